// models/workload/job/pod_constraint_params.hpp -- constraints, labels and image of pods.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct TolerationParams {
  static constexpr std::string_view kDoc = "A toleration of pods, as in Kubernetes.";

  std::string key = {};
  std::optional<TolerationOperator> op = {};
  std::optional<std::string> value = {};
  std::optional<TaintEffect> effect = {};

  template <class V>
  void fields(V& v) {
    v("key", key, "Key of the taint; empty: every taint, with Exists.", Example{"nvidia.com/gpu"});
    v("operator", op,
      "Equal: key and value must be those of the taint; a missing value is empty. Exists: any "
      "value. Absent: Equal if a value is given, as in Kubernetes; without a value Exists, where "
      "Kubernetes has Equal with an empty value.");
    v("value", value, "Value of the taint; empty with Exists.");
    v("effect", effect, "Effect of the taint; absent: any.");
  }
  template <class C>
  void check(C& c) const {
    const bool is_equal = resolved_operator() == TolerationOperator::Equal;
    if (!is_equal && !value.value_or("").empty()) {
      c.error("value", "must be empty with operator: Exists");
    }
    if (!is_equal || !key.empty()) return;
    if (op) {
      c.error("operator", "must be Exists without a key");
    } else {
      c.error("value", "needs a key");
    }
  }
  TolerationOperator resolved_operator() const {
    return op.value_or(value ? TolerationOperator::Equal : TolerationOperator::Exists);
  }
};

struct PodImageParams {
  static constexpr std::string_view kDoc =
      "The image of the pods' containers. With a control plane, each node pulls it once.";

  std::string name = {};
  Bytes size = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Pods with the same name share the image.", Required{}, Example{"trainer"});
    v("size", size, "Bytes that a node pulls.", Required{}, Example{"17GB"});
  }
  template <class C>
  void check(C& c) const {
    if (name.empty()) c.error("name", "must not be empty");
  }
};

enum class Unsatisfiable : uint8_t { DoNotSchedule, ScheduleAnyway };
constexpr std::array<std::string_view, 2> enum_names(Unsatisfiable) {
  return {"DoNotSchedule", "ScheduleAnyway"};
}

struct PodAffinityParams {
  static constexpr std::string_view kDoc = "A term of affinity between pods.";

  PodTopology topology_key = PodTopology::Hostname;
  std::map<std::string, std::string> match_labels = {};

  template <class V>
  void fields(V& v) {
    v("topology_key", topology_key, "The topology key: the same node, or the same leaf switch.",
      Required{});
    v("match_labels", match_labels, "Labels of the selected pods, which must have all of them.",
      Required{}, Example{"{app: database}"});
  }
  template <class C>
  void check(C& c) const {
    if (match_labels.empty()) c.error("match_labels", "must not be empty");
  }
};

struct TopologySpreadParams {
  static constexpr std::string_view kDoc =
      "An even spread of pods over domains, as topologySpreadConstraints in Kubernetes.";

  int32_t max_skew = 1;
  PodTopology topology_key = PodTopology::Hostname;
  Unsatisfiable when_unsatisfiable = Unsatisfiable::DoNotSchedule;
  std::map<std::string, std::string> match_labels = {};

  template <class V>
  void fields(V& v) {
    v("max_skew", max_skew, "By how many pods a domain may exceed the domain with the fewest.",
      Range{1, 1'000'000}, Unit{"pods"}, Required{});
    v("topology_key", topology_key, "The domain: one node, or the nodes of one leaf switch.",
      Required{});
    v("when_unsatisfiable", when_unsatisfiable,
      "DoNotSchedule: nodes beyond max_skew are not feasible; ScheduleAnyway: they score lower.",
      Source{"Kubernetes, whenUnsatisfiable"});
    v("match_labels", match_labels, "Which pods count: those with all these labels, of any job.",
      Required{}, Example{"{app: database}"});
  }
  template <class C>
  void check(C& c) const {
    if (match_labels.empty()) c.error("match_labels", "must not be empty");
  }
};

// Which nodes pods may use, and the image that these nodes pull.
struct PodConstraintParams {
  std::map<std::string, std::string> node_selector = {};
  std::vector<TolerationParams> tolerations = {};
  std::map<std::string, std::string> labels = {};
  std::vector<PodAffinityParams> affinity = {}, anti_affinity = {};
  std::vector<TopologySpreadParams> topology_spread = {};
  std::optional<PodImageParams> image = {};

  template <class V>
  void fields(V& v) {
    v("node_selector", node_selector, "Labels a node must have, all of them.",
      Example{"{nvidia.com/gpu.product: H100}"}, Heeded{Fact::Pods});
    v("tolerations", tolerations, "Tolerations of the pods.", Heeded{Fact::Pods});
    v("labels", labels, "Labels of the pods, for selectors.", Example{"{app: database}"},
      Heeded{Fact::PodLabels});
    v("affinity", affinity, "Required: run only near selected pods, for each term.",
      Heeded{Fact::PodAffinity});
    v("anti_affinity", anti_affinity,
      "Required: never run near selected pods, nor they near these.", Heeded{Fact::PodAffinity});
    v("topology_spread", topology_spread, "Domains to spread pods over.", Heeded{Fact::PodSpread});
    v("image", image, "Image of their containers; absent: nothing to pull.", Heeded{Fact::Images});
  }
  void apply(PodSpec& spec) const;
};

}  // namespace orrery

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
    v("key", key, "Taint key. With Exists, '' matches every key.", Example{"nvidia.com/gpu"});
    v("operator", op,
      "Equal: the taint must have this key and value; no value means an empty value. Exists: the "
      "taint must have this key, with any value. Absent: Equal if a value is given, else Exists "
      "(in Kubernetes: always Equal).");
    v("value", value, "Value of the taint; must be empty with Exists.");
    v("effect", effect, "Effect of the taint; absent: any effect.");
  }
  template <class C>
  void check(C& c) const {
    const bool is_equal = resolved_operator() == TolerationOperator::Equal;
    if (!is_equal && !value.value_or("").empty()) {
      c.error("value", "must be empty with operator: Exists");
    }
    if (!is_equal || !key.empty()) return;
    if (op) {
      c.error("operator", "must be Exists if there is no key");
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
    v("name", name, "Name; equal names mean the same image.", Required{}, Example{"trainer"});
    v("size", size, "Download size of the image.", Required{}, Example{"17GB"});
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
    v("topology_key", topology_key, "The domain: one node, or the nodes of one leaf switch.",
      Required{});
    v("match_labels", match_labels, "The term selects the pods that have all these labels.",
      Required{}, Example{"{app: database}"});
  }
  template <class C>
  void check(C& c) const {
    if (match_labels.empty()) c.error("match_labels", "must not be empty");
  }
};

struct TopologySpreadParams {
  static constexpr std::string_view kDoc = "A topologySpreadConstraint, as in Kubernetes.";

  int32_t max_skew = 1;
  PodTopology topology_key = PodTopology::Hostname;
  Unsatisfiable when_unsatisfiable = Unsatisfiable::DoNotSchedule;
  std::map<std::string, std::string> match_labels = {};

  template <class V>
  void fields(V& v) {
    v("max_skew", max_skew, "Number of pods by which a domain may exceed the emptiest domain.",
      Range{1, 1'000'000}, Unit{"pods"}, Required{});
    v("topology_key", topology_key, "The domain: one node, or the nodes of one leaf switch.",
      Required{});
    v("when_unsatisfiable", when_unsatisfiable,
      "DoNotSchedule: no pod may break max_skew. ScheduleAnyway: fuller domains score lower.",
      Source{"Kubernetes, whenUnsatisfiable"});
    v("match_labels", match_labels, "Pods with all these labels are counted, whatever their job.",
      Required{}, Example{"{app: database}"});
  }
  template <class C>
  void check(C& c) const {
    if (match_labels.empty()) c.error("match_labels", "must not be empty");
  }
};

// Labels, placement constraints and image of a job's pods.
struct PodConstraintParams {
  std::map<std::string, std::string> node_selector = {};
  std::vector<TolerationParams> tolerations = {};
  std::map<std::string, std::string> labels = {};
  std::vector<PodAffinityParams> affinity = {}, anti_affinity = {};
  std::vector<TopologySpreadParams> topology_spread = {};
  std::optional<PodImageParams> image = {};

  template <class V>
  void fields(V& v) {
    v("node_selector", node_selector, "A node must have all these labels.",
      Example{"{nvidia.com/gpu.product: H100}"}, Heeded{Fact::Pods});
    v("tolerations", tolerations, "Tolerations of the pods.", Heeded{Fact::Pods});
    v("labels", labels, "Labels of the pods.", Example{"{app: database}"}, Heeded{Fact::PodLabels});
    v("affinity", affinity, "For each term, the pod's domain must hold a pod selected by the term.",
      Heeded{Fact::PodAffinity});
    v("anti_affinity", anti_affinity,
      "The pod and any other pod that a term selects never share a domain.",
      Heeded{Fact::PodAffinity});
    v("topology_spread", topology_spread, "Spreads pods over domains.", Heeded{Fact::PodSpread});
    v("image", image, "Image of the containers; absent: nothing to pull.",
      Heeded{Fact::Images, true, "there is neither a control plane nor the plugin ImageLocality"});
  }
  void apply(PodSpec& spec) const;
};

}  // namespace orrery

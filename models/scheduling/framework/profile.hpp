// models/scheduling/framework/profile.hpp -- parameters of a scheduler: its plugins, their order
// and its driver.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/policy.hpp"
#include "models/scheduling/contract/traits.hpp"
#include "models/scheduling/framework/scheduler_cost.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {

enum class Driver : uint8_t { PerPod, PerGang, Counting };
constexpr std::array<std::string_view, 3> enum_names(Driver) {
  return {"per_pod", "per_gang", "counting"};
}
enum class ProfileBase : uint8_t {
  Default,
  Coscheduling,
  Koordinator,
  StrictGang,
  NativeGang,
  Empty
};
constexpr std::array<std::string_view, 6> enum_names(ProfileBase) {
  return {"default", "coscheduling", "koordinator", "strict_gang", "native_gang", "empty"};
}
enum class TieBreak : uint8_t { LowestId, Random };
constexpr std::array<std::string_view, 2> enum_names(TieBreak) { return {"lowest_id", "random"}; }
enum class HeadOfLine : uint8_t { Skip, Block };
constexpr std::array<std::string_view, 2> enum_names(HeadOfLine) { return {"skip", "block"}; }

struct PluginParams {
  std::string name;
  std::optional<int64_t> weight;
  bool scores = true;
  RawParams args;

  template <class V>
  void fields(V& v) {
    v("name", name,
      "Upstream name of the plugin, or name of a policy from --plugin; see `orrery describe`.",
      Required{}, Example{"NodeResourcesFit"});
    v("weight", weight,
      "Weight of the plugin's score. Absent: the weight in the base, or 1 if the base does not "
      "have the plugin.",
      Range<int64_t>{1, 1000});
    v("scores", scores,
      "false: the plugin is not called for Score. Its other extension points stay in use.");
    v("args", args, "Arguments of the plugin, under their upstream names.");
  }
};

struct QueueParams {
  Duration initial_backoff = 1_s;
  Duration max_backoff = 10_s;
  Duration unschedulable_max = 5_min;
  bool pop_from_backoff = true;
  HeadOfLine head_of_line = HeadOfLine::Skip;

  template <class V>
  void fields(V& v) {
    v("initial_backoff", initial_backoff,
      "Wait after the first failed attempt. The wait doubles with each further failure.",
      Range{1_s, 1_h}, Source{"kube-scheduler podInitialBackoffSeconds"});
    v("max_backoff", max_backoff, "Longest wait between attempts.", Range{1_s, 24_h},
      Source{"kube-scheduler podMaxBackoffSeconds"});
    v("unschedulable_max", unschedulable_max,
      "An unschedulable pod is retried after this time if no event has requeued it before. This is "
      "checked every 30 s.",
      Range{30_s, 240_h}, Source{"kube-scheduler, pod-max-in-unschedulable-pods-duration"});
    v("pop_from_backoff", pop_from_backoff,
      "true: an idle scheduler takes the next pod in backoff. false: pods wait until their backoff "
      "ends, as in schedulers built on Kubernetes before 1.33, such as Koordinator 1.7 on 1.28. "
      "Gang members that Coscheduling activates skip the backoff in both cases, as upstream.",
      Source{"SchedulerPopFromBackoffQ, on by default since Kubernetes 1.33. It is on in "
             "scheduler-plugins 903da7df and koordinator a7a1b76b (1.8), which use 1.35"});
    v("head_of_line", head_of_line,
      "skip: if a pod does not fit, the pods behind it are tried. block: no pod passes the head "
      "of the queue.");
  }
  void check(Checker& c) const {
    if (max_backoff < initial_backoff) {
      c.error("max_backoff", "must be at least initial_backoff");
    }
  }
};

struct ProfileParams {
  ProfileBase base = ProfileBase::Default;
  std::optional<Driver> driver;
  std::vector<PluginParams> plugins;
  std::vector<std::string> disable;
  int32_t percentage_of_nodes_to_score = 0;
  TieBreak tie_break = TieBreak::LowestId;
  QueueParams queue;
  SchedulerCostParams cost;
  static constexpr std::string_view kDoc = "The scheduler: a base profile and its changes.";

  template <class V>
  void fields(V& v) {
    const Heeded kOfPods{driver != Driver::Counting, "driver is counting, which places no pods"};
    v("base", base,
      "default: kube-scheduler's profile of Kubernetes 1.36. coscheduling: a profile on Kubernetes "
      "1.35 with the gang plugin of scheduler-plugins. koordinator: a profile on Kubernetes 1.35 "
      "with the gang plugin of Koordinator 1.8; the gangs of a job start together or not at all. "
      "strict_gang: a gang is placed as a whole or waits. native_gang: gang scheduling of "
      "Kubernetes 1.36. empty: a profile with `plugins` only.",
      kOfPods);
    v("driver", driver,
      "per_pod: pods are placed one at a time, as upstream. per_gang: gangs are placed as a whole. "
      "counting: jobs have no pods; a job that the job queue starts takes its resources out of the "
      "pool of all nodes. Absent: the driver of the base.");
    v("plugins", plugins,
      "Plugins that are added after those of the base. A plugin of the base with the same name "
      "is replaced.",
      kOfPods);
    v("disable", disable, "Plugins of the base to leave out.", kOfPods);
    v("percentage_of_nodes_to_score", percentage_of_nodes_to_score,
      "The search for nodes stops once this share of the nodes is found feasible; 0: adaptive.",
      Range{0, 100}, Unit{"%"}, Source{"kube-scheduler percentageOfNodesToScore"}, kOfPods);
    v("tie_break", tie_break, "Which of several nodes with the best score is chosen.", kOfPods);
    v("queue", queue, "Backoff times and order of the scheduling queue.", kOfPods);
    v("cost", cost, "How much simulated time scheduling takes.", kOfPods);
  }
};

// The plugins of the base without those in `disable`, merged with `plugins`. Sets weights that are
// left out, and arguments that follow from `cost.preset`.
std::vector<PluginParams> resolve_plugins(const ProfileParams& profile);
// Whether a built-in or loaded plugin of the profile declares the trait.
bool has_trait(const ProfileParams& profile, Trait trait);
// True if the policy is unknown, or if it is loaded (not built in) and implements this point.
bool is_loaded_for(const std::string& policy, const RawParams& args, const PointName& point);
bool has_loaded(const ProfileParams& profile);  // whether any plugin is not built in
bool has_loaded_for(const ProfileParams& profile, const PointName& point);
Driver resolve_driver(const ProfileParams& profile);
// Reports unknown names (with similar known names), repeated plugins, wrong arguments, and
// extension points that too few or too many plugins implement.
void check_profile(const ProfileParams& profile, const std::string& path, const config::Node& node,
                   Diagnostics& diagnostics);

}  // namespace orrery

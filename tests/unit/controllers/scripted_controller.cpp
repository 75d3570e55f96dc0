// A controller for tests that executes the actions in its arguments.
#include <cstdint>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

struct ScriptedStepParams {
  static constexpr std::string_view kDoc = "One action.";
  Duration at = {};
  std::string action = {};
  int32_t node = 0, nodes = 1, pool = 0, job = 0, rank = 0, replicas = 0;
  int32_t lost_below = -1'000'000'000;
  Duration retry_for = {};
  std::optional<Duration> deadline = {}, force_after = {}, evict_for = {};

  template <class V>
  void fields(V& v) {
    v("at", at, "When.");
    v("action", action, "Which.");
    v("node", node, "Of the cluster.");
    v("nodes", nodes, "As many, from `node` on.");
    v("pool", pool, "Of those that may be scaled.");
    v("lost_below", lost_below, "Of a removal.");
    v("job", job, "By its id.");
    v("rank", rank, "Of the job.");
    v("replicas", replicas, "Of a service.");
    v("retry_for", retry_for, "Of an eviction.");
    v("deadline", deadline, "Of a drain.");
    v("force_after", force_after, "Of a drain.");
    v("evict_for", evict_for, "Of a drain.");
  }
};

struct ScriptedParams {
  static constexpr std::string_view kDoc = "What it does.";
  std::vector<ScriptedStepParams> steps = {};
  template <class V>
  void fields(V& v) {
    v("steps", steps, "In order of time.");
  }
};

ControlAction action_of(const ScriptedStepParams& step, const ControlBoard& board) {
  const NodeId node{static_cast<uint32_t>(step.node)};
  const JobId job{static_cast<uint32_t>(step.job)};
  const Taint no_execute{"test", "", TaintEffect::NoExecute};
  if (step.action == "cordon") return CordonNode{node};
  if (step.action == "uncordon") return UncordonNode{node};
  if (step.action == "taint") return TaintNode{node, no_execute, true};
  if (step.action == "untaint") return TaintNode{node, no_execute, false};
  if (step.action == "drain") {
    return DrainNode{node, step.deadline.value_or(Duration::max()),
                     step.force_after.value_or(Duration::max()),
                     step.evict_for.value_or(Duration::max())};
  }
  if (step.action == "suspend") return SuspendJob{job};
  if (step.action == "resume") return ResumeJob{job};
  if (step.action == "resize") return ResizeService{job, step.replicas};
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < static_cast<uint32_t>(step.nodes); ++i) {
    nodes.push_back({node.index + i});
  }
  const auto pool = static_cast<uint32_t>(step.pool);
  if (step.action == "add_nodes") return AddNodes{.pool = pool, .nodes = nodes};
  if (step.action == "remove_nodes") return RemoveNodes{pool, nodes, step.lost_below};
  const PodId first = board.job(job).first_pod;
  return EvictPod{PodId{first.index + static_cast<uint32_t>(step.rank)}, step.retry_for};
}

class Scripted final : public Policy, public Controller {
 public:
  using Params = ScriptedParams;
  static constexpr Traits kTraits = Trait::ScalesPools;
  Scripted(const ControlBoard& /*board*/, const Params& params) : params_{params} {}
  void tick(const ControlBoard& board, Actions& actions) override {
    for (; next_ < params_.steps.size(); ++next_) {
      const ScriptedStepParams& step = params_.steps[next_];
      const Time due = Time{} + step.at;
      if (due > board.now()) return actions.wake_at(due);
      actions.give(action_of(step, board), "the test says so");
    }
  }

 private:
  const Params params_;
  size_t next_ = 0;
};
ORRERY_REGISTER_POLICY(Scripted, "Scripted", "Acts as a test says.");

}  // namespace
}  // namespace orrery

// models/scheduling/framework/framework.hpp -- runs the extension points of a profile.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/scheduling/framework/node_scores.hpp"
#include "models/scheduling/framework/node_verdicts.hpp"
#include "models/scheduling/framework/nominations.hpp"
#include "models/scheduling/framework/plugin_bits.hpp"
#include "models/scheduling/framework/plugins.hpp"
#include "models/scheduling/framework/scheduler_services.hpp"
#include "models/scheduling/framework/selection.hpp"

namespace orrery {

// The state of an attempt is in its CycleState, so attempts may be interleaved. Commands of
// policies are carried out once no extension point is running.
class Framework final : private CommandSink {
 public:
  // `services` and `nominations` must outlive the framework.
  Framework(SchedulerServices& services, const Nominations& nominations,
            const ProfileParams& profile);
  Framework(const Framework&) = delete;
  Framework& operator=(const Framework&) = delete;
  // No command is carried out until resume_commands(): a what-if must not change anything real.
  size_t pause_commands() { return ++depth_, commands_.size(); }  // number of pending commands
  void resume_commands(size_t kept = SIZE_MAX) {  // drops all but the first `kept` commands
    --depth_;
    if (kept < commands_.size()) commands_.resize(kept);
    settle();
  }
  // The state of a new attempt. The attempt counts as `counts` equal attempts: see RetryRounds.
  CycleState new_attempt(uint64_t counts = 1) { return {attempts_ += counts, services_.streams()}; }
  uint32_t next_start() const { return next_start_; }  // where the next search begins

  // ---- the queue
  bool less(const QueuedUnit& a, const QueuedUnit& b) const;
  bool run_pre_enqueue(const PodView& pod);  // false: the pod is gated
  bool has_next_pod() const { return !plugins_.at<NextPod>().empty(); }
  PodId run_next_pod();
  // Fails a check if passed_over > pods: NextPod named too many pods in a row that are not queued.
  void check_next_pod(size_t passed_over, size_t pods) const;
  QueueHint hint(uint8_t plugin, const PodView& pod, const ClusterEvent& event) const;
  ClusterEvents events_of_interest() const { return events_of_interest_; }

  // ---- a node for a pod. If `domain` is null, all nodes are searched
  Selection find_node(const Cycle& cycle, const NodeSet* domain);  // calls the next three functions
  bool run_pre_filter(const Cycle& cycle, const NodeSet* domain, Selection& selection);
  bool run_filter(const Cycle& cycle, Selection& selection);
  void run_score(const Cycle& cycle, Selection& selection);
  Duration charge(const Cycle& cycle) const;  // sum of Charges::charge(); PreFilters must have run
  // The subset of `nodes` on which the pod now passes all Filters. PreFilters must have run.
  NodeSet feasible(const Cycle& cycle, const NodeSet& nodes) const;
  bool decides_node_by_node(const CycleState& state) const;  // all called Filters are node-local
  // Why the latest search found no node. If `with_nodes`, also lists the nodes of each reason.
  Candidates diagnose(const Cycle& cycle, const NodeSet* domain, bool with_nodes) const;
  // The text of a FailedScheduling event: "0/75 nodes are available: 74 Insufficient cpu, ..."
  std::string message(const Candidates& diagnosis) const;
  // Whether a PostFilter reads the candidate nodes.
  bool reads_candidates(const PodView& pod) const;
  // Returns the scheduler time that the PostFilter plugins take.
  Duration run_post_filter(const Cycle& cycle, const Diagnosis& diagnosis);

  // ---- after a pod has a node
  GpuMask pick_devices(const Cycle& cycle, NodeId node) const;
  Verdict run_reserve(const Cycle& cycle, NodeId node);
  void run_unreserve(const PodView& pod, NodeId node);  // calls plugins in reverse order
  Verdict run_permit(const Cycle& cycle, NodeId node);
  bool has_permit() const { return !plugins_.at<Permit>().empty(); }
  Verdict run_pre_bind(const PodView& pod, NodeId node);
  Verdict run_bind(const PodView& pod, NodeId node);
  void run_post_bind(const PodView& pod, NodeId node);

  // ---- whole gangs
  std::vector<GangDomain> domains(const Cycle& cycle, const GangView& gang);
  bool places_lone_pods() const;  // whether a Domains plugin handles pods without a gang, too
  bool scores_placements() const { return !plugins_.at<ScorePlacement>().empty(); }
  int64_t score_placement(const Cycle& cycle, const GangView& gang,
                          std::span<const NodeId> nodes) const;
  // Upper limit on further pods of the cycle's spec in the domain: as many as the idle GPUs of
  // feasible nodes allow. INT64_MAX if the spec requests no whole GPUs.
  int64_t gpu_capacity(const Cycle& cycle, const GangDomain* domain);
  // Bit set of the plugins that reject the pod, or of all Filter plugins if none rejects it.
  uint32_t rejecting_plugins(const Cycle& cycle, const NodeSet* domain);
  void gang_over(GangId gang) { plugins_.gang_over(gang); }

  uint32_t filter_plugins() const;  // bit set of all Filter plugins
  std::string_view name(uint8_t plugin) const;

 private:
  void give(const PolicyCommand& command) override { commands_.push_back(command); }
  // Calls extension point f. Commands given during f wait until no extension point is running.
  template <class F>
  auto inside(F&& f);
  void settle();
  Verdict permit_of(const Bound<Permit>& p, const Cycle& cycle, NodeId node) const;
  SpecCache& verdicts(const Cycle& cycle);
  // Nodes that pass the PreFilters and the node-local Filters; valid until the next call.
  const NodeSet& allowed_in(const SpecCache& cache, const CycleState& state);
  void find_window(const Cycle& cycle, SpecCache* lazily);
  void look_round(const Cycle& cycle, SpecCache& cache, uint32_t start, uint32_t limit);
  void run_filters(const Cycle& cycle, Candidates& nodes, bool local) const;
  uint32_t rejecting_filters(const Cycle& cycle, const NodeSet* domain);
  void keep_room_for_nominated(const Cycle& cycle, Candidates& nodes) const;
  std::string narrowing_reason(uint32_t by) const;

  SchedulerServices& services_;
  const ClusterState& cluster_;
  const Nominations& nominations_;
  const int32_t percentage_;
  std::deque<PolicyCommand> commands_;
  int32_t depth_ = 0;  // number of nested points and pauses
  bool is_settling_ = false;
  Plugins plugins_;  // declared after commands_, because constructors of plugins may give commands
  NodeVerdicts verdicts_;
  NodeScores scores_;
  ClusterEvents events_of_interest_ = 0;
  uint64_t attempts_ = 0;
  uint32_t next_start_ = 0;  // where the next search begins
  NodeSet scratch_;          // scratch of single calls
};

template <class F>
auto Framework::inside(F&& f) {
  struct Within {
    int32_t& depth;
    explicit Within(int32_t& of) : depth{of} { ++depth; }
    ~Within() { --depth; }
  };
  const auto call = [&]() -> decltype(auto) {
    const Within within{depth_};
    return f();
  };
  if constexpr (std::is_void_v<decltype(f())>) {
    call();
    settle();
  } else {
    auto result = call();
    settle();
    return result;
  }
}

}  // namespace orrery

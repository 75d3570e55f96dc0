// models/scheduling/framework/framework.hpp -- the plugins of one profile, and finding a node with
// them.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_api.hpp"
#include "models/scheduling/contract/policy_fault.hpp"
#include "models/scheduling/framework/nominations.hpp"
#include "models/scheduling/framework/profile.hpp"
#include "models/scheduling/framework/selection.hpp"
#include "models/scheduling/framework/spec_cache.hpp"

namespace orrery {

// Verdicts and scores that depend on one node and the pod's spec alone are kept per spec and
// refreshed for the nodes that changed since, so that a burst of alike pods costs one scan.
class Framework {
 public:
  static constexpr uint8_t kNodeReady = 31;  // stands for the check that a node is up
  static constexpr uint8_t kNominated = 30;  // for the room that is kept for nominated pods

  Framework(Handle& handle, const ProfileParams& profile);
  void heed(const Nominations& nominations) { nominations_ = &nominations; }  // must outlive it

  struct Scorer {
    Bound<Score> score;
    Bound<PreScore> pre_score;  // its plugin null: none
    int64_t weight;
  };
  const Bound<QueueSort>& queue_sort() const { return queue_sort_; }
  std::span<const Bound<PreEnqueue>> pre_enqueue() const { return pre_enqueue_; }
  std::span<const Bound<NextPod>> next_pod() const { return next_pod_; }
  std::span<const Bound<PostFilter>> post_filter() const { return post_filter_; }
  std::span<const Bound<Reserve>> reserve() const { return reserve_; }
  std::span<const Bound<Permit>> permit() const { return permit_; }
  std::span<const Bound<PreBind>> pre_bind() const { return pre_bind_; }
  std::span<const Bound<Bind>> bind() const { return bind_; }
  std::span<const Bound<PostBind>> post_bind() const { return post_bind_; }
  std::span<const Bound<Domains>> domains() const { return domains_; }
  std::span<const Bound<ScorePlacement>> score_placement() const { return score_placement_; }
  std::span<const Bound<PodWatcher>> pod_watchers() const { return pod_watchers_; }
  std::span<const Bound<PreFilterExtensions>> pre_filter_extensions() const { return extensions_; }
  Duration charge(const Cycle& cycle) const;  // of what plugins cost, after select()
  GpuMask pick_devices(const Cycle& cycle, NodeId node) const;
  QueueHint hint(uint8_t plugin, const PodView& pod, const ClusterEvent& event) const;
  uint32_t filter_plugins() const;  // bit set of all Filter plugins
  ClusterEvents events_of_interest() const { return events_of_interest_; }
  std::string_view name(uint8_t plugin) const;

  // `domain` null: all nodes.
  Selection select(const PodView& pod, Time now, const NodeSet* domain);
  // Where, of `nodes`, all Filters let the pod pass now; after its select(), until the next call.
  const NodeSet& feasible(const Cycle& cycle, const NodeSet& nodes);
  bool decides_node_by_node() const;  // no Filter looks at other nodes, in this cycle
  // An upper bound on how many more pods of this spec fit, by whole GPUs alone; INT64_MAX if the
  // spec asks for none.
  int64_t gpu_capacity(const PodView& pod, Time now, const GangDomain* domain);
  // Bit set of the plugins that reject the pod, without a select(); all Filters if none does.
  uint32_t rejecting_plugins(const PodView& pod, Time now, const NodeSet* domain);
  // The reasons behind the last failed selection of `pod`, worked out anew; with the nodes of each?
  const Candidates& diagnose(const PodView& pod, Time now, const NodeSet* domain, bool with_nodes);
  // "0/7500 nodes are available: 7400 Insufficient nvidia.com/gpu, ..."
  std::string message(const Candidates& diagnosis) const;

 private:
  void add(std::unique_ptr<Policy> policy, int64_t weight);  // weight 0: it does not score
  SpecCache& cache_of(SpecId spec);
  SpecCache& refreshed(const Cycle& cycle);
  void count_capacity(const PodSpec& spec, SpecCache& cache) const;
  void run_filters(const Cycle& cycle, Candidates& nodes, bool local);
  void run_local_filters(const Cycle& cycle, const NodeSet& nodes, SpecCache& cache);
  bool narrow(const Cycle& cycle, const NodeSet* domain, Selection& selection);
  bool runs(uint8_t filter) const;  // of those that look at other nodes, in this cycle
  uint32_t rejecting_filters(const Cycle& cycle, const NodeSet* domain);
  std::string narrowing_reason() const;
  void keep_index(const Cycle& cycle, SpecCache& cache);
  void index_scores(const Cycle& cycle, const NodeSet& nodes, ScoreIndex& alike);
  void keep_room_for_nominated(const Cycle& cycle, Candidates& nodes);
  void find_window(uint32_t limit);
  NodeId first_in_window(const NodeSet& nodes) const;
  template <class F>
  void for_each_in_window(F&& f) const;
  void collect_feasible();
  bool is_asked(const Scorer& scorer, const Cycle& cycle);
  void find_present(const ScoreIndex& alike);
  void score_classes(const Cycle& cycle, const ScoreIndex& alike);
  NodeId best_of_alike(const ScoreIndex& alike);
  void normalize(const Scorer& scorer);
  void score(const Cycle& cycle, SpecCache& cache);
  NodeId best();

  const ClusterState& cluster_;
  const Nominations* nominations_ = nullptr;
  int32_t percentage_;
  TieBreak tie_break_;
  Rng tie_rng_;
  std::vector<std::unique_ptr<Policy>> policies_;
  std::deque<std::string> names_;  // they stay where they are
  Bound<QueueSort> queue_sort_;
  Bound<PickDevices> pick_devices_;
  std::vector<Bound<PreEnqueue>> pre_enqueue_;
  std::vector<Bound<NextPod>> next_pod_;
  std::vector<Bound<PreFilter>> pre_filter_;
  std::vector<Bound<Filter>> filter_;
  std::vector<Bound<PostFilter>> post_filter_;
  std::vector<Scorer> scorers_;
  std::vector<Bound<Reserve>> reserve_;
  std::vector<Bound<Permit>> permit_;
  std::vector<Bound<PreBind>> pre_bind_;
  std::vector<Bound<Bind>> bind_;
  std::vector<Bound<PostBind>> post_bind_;
  std::vector<Bound<Domains>> domains_;
  std::vector<Bound<ScorePlacement>> score_placement_;
  std::vector<Bound<PodWatcher>> pod_watchers_;
  std::vector<Bound<PreFilterExtensions>> extensions_;
  std::vector<Bound<Charges>> charges_;
  std::vector<Bound<EventHints>> hints_;  // per plugin; none: every event retries
  ClusterEvents events_of_interest_ = 0;
  bool has_global_filters_ = false;      // some Filter looks beyond one node
  bool scores_alike_ = true;             // all Scores are node-local and by extremes
  bool was_kept_for_nominated_ = false;  // some node, in this cycle

  const size_t caches_max_;
  std::vector<std::unique_ptr<SpecCache>> caches_;  // by SpecId, modulo the most; null: never seen
  uint32_t next_start_ = 0;
  Narrowing narrowing_;
  std::string narrowed_text_;
  std::set<std::string> narrowed_to_none_;  // reasons given so far, which others hold views of
  // Scratch of one selection.
  NodeSet restricted_, changed_, before_;
  Candidates candidates_, supposed_;
  std::vector<NodeId> feasible_, missing_;
  Window window_;
  std::vector<size_t> present_;              // classes of alike nodes
  std::vector<uint8_t> is_present_;          // by class
  std::vector<int64_t> one_, total_, each_;  // each_: of all scorers, node by node
};

}  // namespace orrery

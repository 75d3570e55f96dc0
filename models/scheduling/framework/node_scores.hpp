// models/scheduling/framework/node_scores.hpp -- chooses the best of the feasible nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/scheduling/framework/plugins.hpp"
#include "models/scheduling/framework/spec_cache.hpp"

namespace orrery {

// Raw scores that depend only on a node and the pod's spec are cached by spec. If all raw scores
// are of this kind, and their normalisation needs only minimum and maximum, nodes with equal scores
// form a class, and each class is evaluated once.
class NodeScores {
 public:
  NodeScores(const ClusterState& cluster, const Plugins& plugins, TieBreak tie_break);

  bool are_none() const { return scorers_.empty(); }
  // Call this when `cache` is first used with a new version of the cluster. After enough calls the
  // cache gets an index.
  void count_refresh(SpecCache& cache) const;
  // Whether the cache has an index of equal nodes, or should get one now.
  bool wants_index(const SpecCache& cache) const;
  // index_all() makes a new index of all feasible nodes. index() adds `nodes`, which were newly
  // found feasible, to the index.
  void index_all(const Cycle& cycle, SpecCache& cache);
  void index(const Cycle& cycle, SpecCache& cache, const NodeSet& nodes);

  // The candidate with the lowest id in `state.window`, the range of nodes that was searched.
  NodeId first(const CycleState& state) const;
  // The candidate with the best score in `cycle.state.window`, which must have a candidate.
  NodeId best(const Cycle& cycle, SpecCache& cache);

 private:
  struct Scorer {
    Bound<Score> score;
    const Bound<PreScore>* pre_score;  // null: the plugin has no PreScore
    int64_t weight;
    bool is_node_local;
  };
  NodeId first_in_window(const CycleState& state, const NodeSet& nodes) const;
  bool is_asked(const Scorer& scorer, const Cycle& cycle) const;
  void normalize(const Scorer& scorer);
  void find_present(const CycleState& state, const ScoreIndex& alike);
  void score_classes(const Cycle& cycle, const ScoreIndex& alike);
  NodeId best_of_alike(CycleState& state, const ScoreIndex& alike);
  void score_nodes(const Cycle& cycle, SpecCache& cache);
  NodeId best_of_nodes(CycleState& state) const;

  const ClusterState& cluster_;
  const TieBreak tie_break_;
  std::vector<Scorer> scorers_;
  bool scores_alike_ = true;  // all Scores have is_node_local() and is_by_extremes()
  // Scratch of one call. one_: scores of one scorer. total_: weighted sums over all scorers. each_:
  // for each node in missing_, the scores of all scorers.
  std::vector<NodeId> feasible_, missing_;
  std::vector<size_t> present_;      // classes with a node in the window
  std::vector<uint8_t> is_present_;  // by class: 1 if it is in present_
  std::vector<int64_t> one_, total_, each_;
};

}  // namespace orrery

#include "models/scheduling/framework/node_scores.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

template <class F>
void for_each_in_window(const CycleState& state, F&& f) {
  const NodeSet& nodes = state.candidates.nodes();
  NodeId at = nodes.next({state.window.start});
  for (uint32_t i = 0; i < state.window.count; ++i, at = nodes.next({at.index + 1})) {
    if (!at.is_valid()) at = nodes.next({0});
    f(at);
  }
}

}  // namespace

NodeScores::NodeScores(const ClusterState& cluster, const Plugins& plugins, TieBreak tie_break)
    : cluster_{cluster}, tie_break_{tie_break} {
  for (const Bound<Score>& score : plugins.at<Score>()) {
    scorers_.push_back({.score = score,
                        .pre_score = plugins.also<PreScore>(score.index),
                        .weight = plugins.weight(score.index),
                        .is_node_local = score.call(&Score::is_node_local)});
    scores_alike_ &= scorers_.back().is_node_local && score.call(&Score::is_by_extremes);
  }
  scores_alike_ &= !scorers_.empty();
}

// ---- the window

// The candidate with the lowest id that is in `nodes` and in the window, even if the round-robin
// search finds another candidate earlier.
NodeId NodeScores::first_in_window(const CycleState& state, const NodeSet& nodes) const {
  const NodeSet& candidates = state.candidates.nodes();
  const size_t n = candidates.universe();
  const size_t end = size_t{state.window.start} + state.window.visited;
  if (end > n) {
    const NodeId found = candidates.next_of_both(nodes, {0}, end - n);
    if (found.is_valid()) return found;
  }
  return candidates.next_of_both(nodes, {state.window.start}, std::min(end, n));
}

NodeId NodeScores::first(const CycleState& state) const {
  return first_in_window(state, state.candidates.nodes());
}

NodeId NodeScores::best(const Cycle& cycle, SpecCache& cache) {
  if (scores_alike_ && cache.alike.is_usable()) {
    score_classes(cycle, cache.alike);
    return best_of_alike(cycle.state, cache.alike);
  }
  feasible_.clear();
  for_each_in_window(cycle.state, [this](NodeId n) { feasible_.push_back(n); });
  score_nodes(cycle, cache);
  return best_of_nodes(cycle.state);
}

bool NodeScores::is_asked(const Scorer& scorer, const Cycle& cycle) const {
  return scorer.pre_score == nullptr ||
         scorer.pre_score->call(&PreScore::pre_score, cycle, feasible_).code != Code::Skip;
}

void NodeScores::normalize(const Scorer& scorer) {
  ask(*scorer.score.name, [&] {
    scorer.score.plugin->normalize(one_);
    for (const int64_t score : one_) {
      ORRERY_CHECK(score >= 0 && score <= 100, "a normalised score lies in 0..100");
    }
  });
}

// ---- scores of classes of equal nodes

void NodeScores::count_refresh(SpecCache& cache) const {
  if (scores_alike_ && !cache.alike.is_usable()) ++cache.refreshes;
}

// An index is made when a spec's cache is used with a third version of the cluster. Making an index
// takes far longer than scoring the nodes found by one search, so it pays only for specs that come
// often.
bool NodeScores::wants_index(const SpecCache& cache) const {
  // The test is == and not >=, because an index that had too many classes must not be made again.
  constexpr uint32_t kIndexedAt = 3;
  return scores_alike_ && (cache.alike.is_usable() || cache.refreshes == kIndexedAt);
}

void NodeScores::index_all(const Cycle& cycle, SpecCache& cache) {
  cache.alike.reset(cluster_.nodes(), scorers_.size());
  index(cycle, cache, cache.feasible);
}

void NodeScores::index(const Cycle& cycle, SpecCache& cache, const NodeSet& nodes) {
  missing_.clear();
  nodes.for_each([this](NodeId n) { missing_.push_back(n); });
  const size_t scorers = scorers_.size();
  one_.resize(missing_.size());
  each_.resize(missing_.size() * scorers);
  for (size_t i = 0; i < scorers; ++i) {
    scorers_[i].score.call(&Score::score, cycle, missing_, one_);
    for (size_t k = 0; k < missing_.size(); ++k) each_[k * scorers + i] = one_[k];
  }
  for (size_t k = 0; k < missing_.size(); ++k) {
    cache.alike.insert(missing_[k], std::span{each_}.subspan(k * scorers, scorers));
  }
}

// Finds the classes with a node in the window. Visits either all classes or all candidates in the
// window, whichever is estimated to be cheaper.
void NodeScores::find_present(const CycleState& state, const ScoreIndex& alike) {
  const bool are_all_in = state.window.count == alike.size();
  present_.clear();
  if (!are_all_in && alike.classes() * (state.window.visited / 64 + 1) > state.window.count) {
    is_present_.assign(alike.classes(), 0);
    for_each_in_window(state, [&](NodeId n) {
      const size_t c = alike.class_of(n);
      if (std::exchange(is_present_[c], 1) == 0) present_.push_back(c);
    });
    return;
  }
  for (size_t c = 0; c < alike.classes(); ++c) {
    if (alike.count(c) == 0) continue;
    if (are_all_in || first_in_window(state, alike.nodes(c)).is_valid()) present_.push_back(c);
  }
}

void NodeScores::score_classes(const Cycle& cycle, const ScoreIndex& alike) {
  find_present(cycle.state, alike);
  feasible_.clear();  // pre_score() of these scorers ignores it; see is_by_extremes()
  total_.assign(alike.classes(), 0);
  one_.resize(present_.size());
  for (size_t i = 0; i < scorers_.size(); ++i) {
    if (!is_asked(scorers_[i], cycle)) continue;
    for (size_t k = 0; k < present_.size(); ++k) one_[k] = alike.score(present_[k], i);
    normalize(scorers_[i]);
    for (size_t k = 0; k < present_.size(); ++k) {
      total_[present_[k]] += one_[k] * scorers_[i].weight;
    }
  }
}

// Chooses like best_of_nodes(), but visits classes instead of nodes. With a random tie-break it
// visits each node.
NodeId NodeScores::best_of_alike(CycleState& state, const ScoreIndex& alike) {
  NodeId chosen;
  if (tie_break_ == TieBreak::Random) {
    Rng& rng = state.rng("scheduling.tie_break");
    int64_t most = -1;
    uint64_t ties = 1;
    for_each_in_window(state, [&](NodeId n) {
      const int64_t total = total_[alike.class_of(n)];
      if (total < most) return;
      if (total > most) {
        most = total;
        ties = 1;
      } else if (rng.below(++ties) != 0) {
        return;
      }
      chosen = n;
    });
    return chosen;
  }
  int64_t most = -1;
  for (const size_t c : present_) most = std::max(most, total_[c]);
  for (const size_t c : present_) {
    if (total_[c] < most) continue;
    const NodeId first = first_in_window(state, alike.nodes(c));
    if (!chosen.is_valid() || first.index < chosen.index) chosen = first;
  }
  return chosen;
}

// ---- scores of single nodes

void NodeScores::score_nodes(const Cycle& cycle, SpecCache& cache) {
  // A spec that was used with only one version of the cluster may never be used again, so its
  // scores are not stored. `refreshes` counts the versions. Without scores_alike_ it stays 0, so
  // scores are stored from the start.
  const bool are_kept = cache.refreshes != 1;
  missing_.clear();
  for (const NodeId n : feasible_) {
    if (are_kept && !cache.scored.contains(n)) missing_.push_back(n);
  }
  cache.raw.resize(scorers_.size());
  total_.assign(feasible_.size(), 0);
  for (size_t i = 0; i < scorers_.size(); ++i) {
    const Scorer& scorer = scorers_[i];
    const bool is_kept = are_kept && scorer.is_node_local;
    const bool is_skipped = !is_asked(scorer, cycle);
    std::vector<int64_t>& raw = cache.raw[i];
    one_.resize(feasible_.size());
    // The scores of a skipped scorer are computed and stored, too, because each node in `scored`
    // must have raw scores of all scorers.
    if (is_kept && !missing_.empty()) {
      raw.resize(cluster_.nodes());
      scorer.score.call(&Score::score, cycle, missing_, std::span{one_}.first(missing_.size()));
      for (size_t k = 0; k < missing_.size(); ++k) raw[missing_[k].index] = one_[k];
    }
    if (is_skipped) continue;
    if (!is_kept) {
      scorer.score.call(&Score::score, cycle, feasible_, one_);
    } else {
      for (size_t k = 0; k < feasible_.size(); ++k) one_[k] = raw[feasible_[k].index];
    }
    normalize(scorer);
    for (size_t k = 0; k < feasible_.size(); ++k) total_[k] += one_[k] * scorer.weight;
  }
  for (const NodeId n : missing_) cache.scored.insert(n);
}

NodeId NodeScores::best_of_nodes(CycleState& state) const {
  size_t chosen = 0;
  uint64_t ties = 1;
  for (size_t k = 1; k < feasible_.size(); ++k) {
    if (total_[k] < total_[chosen]) continue;
    if (total_[k] > total_[chosen]) {
      chosen = k;
      ties = 1;
    } else if (tie_break_ == TieBreak::LowestId) {
      if (feasible_[k].index < feasible_[chosen].index) chosen = k;
    } else if (state.rng("scheduling.tie_break").below(++ties) == 0) {
      chosen = k;
    }
  }
  return feasible_[chosen];
}

}  // namespace orrery

// Which node a pod gets: where to look, what speaks for each node, the best.
#include <algorithm>
#include <bit>
#include <utility>

#include "models/scheduling/framework/feasible_nodes_to_find.hpp"
#include "models/scheduling/framework/framework.hpp"
#include "sim/core/check.hpp"

namespace orrery {

Selection Framework::select(const PodView& pod, Time now, const NodeSet* domain) {
  const Cycle cycle{now, cluster_, pod};
  Selection selection;
  if (!narrow(cycle, domain, selection)) return selection;
  SpecCache& cache = refreshed(cycle);
  restricted_ &= cache.feasible;
  candidates_.reset(restricted_);
  if (nominations_ != nullptr && !nominations_->empty()) {
    const NodeId first = nominations_->first_choice(pod.id);
    NodeSet one{cluster_.nodes()};
    if (first.is_valid()) one.insert(first);
    if (first.is_valid() && restricted_.contains(first) && feasible(cycle, one).contains(first)) {
      ORRERY_MARK("scheduling.nominated_node_first");
      selection.node = first;
      selection.visited = selection.feasible = 1;
      return selection;
    }
    keep_room_for_nominated(cycle, candidates_);
  }
  run_filters(cycle, candidates_, false);
  const auto limit = scorers_.empty() ? int64_t{1}
                                      : feasible_nodes_to_find(
                                            static_cast<int64_t>(cluster_.nodes()), percentage_);
  find_window(static_cast<uint32_t>(limit));
  selection.visited = window_.visited;
  selection.feasible = window_.count;
  if (window_.count == 0) {
    selection.code = Code::Unschedulable;
    selection.plugins |= narrowing_.by | rejecting_filters(cycle, domain);
    return selection;
  }
  if (window_.count == 1 || scorers_.empty()) {
    selection.node = first_in_window(candidates_.nodes());
    return selection;
  }
  if (scores_alike_ && cache.alike.is_usable()) {
    score_classes(cycle, cache.alike);
    selection.node = best_of_alike(cache.alike);
    return selection;
  }
  collect_feasible();
  score(cycle, cache);
  selection.node = best();
  return selection;
}

// ---- nominated pods

const NodeSet& Framework::feasible(const Cycle& cycle, const NodeSet& nodes) {
  ORRERY_CHECK(narrowing_.pod == cycle.pod.id, "PreFilter was asked about this pod last");
  supposed_.reset(nodes);
  supposed_.keep(cluster_.up(), {Code::UnschedulableAndUnresolvable, "node(s) were not ready"});
  if (narrowing_.by != 0)
    supposed_.keep(narrowing_.nodes, {Code::UnschedulableAndUnresolvable, ""});
  run_filters(cycle, supposed_, true);
  run_filters(cycle, supposed_, false);
  keep_room_for_nominated(cycle, supposed_);
  return supposed_.nodes();
}

bool Framework::decides_node_by_node() const {
  return std::ranges::all_of(filter_, [this](const auto& filter) {
    return filter.call(&Filter::is_node_local) || !runs(filter.index);
  });
}

// As upstream: those of no lower priority count as if they were there already. What their labels do
// to others is left out.
void Framework::keep_room_for_nominated(const Cycle& cycle, Candidates& nodes) {
  if (nominations_ == nullptr || nominations_->empty()) return;
  NodeSet full{cluster_.nodes()};
  bool is_any = false;
  nominations_->nodes().for_each_of_both(nodes.nodes(), [&](NodeId n) {
    if (nominations_->leave_room(cluster_, cycle.pod, n)) return;
    full.insert(n);
    is_any = true;
  });
  if (!is_any) return;
  was_kept_for_nominated_ = true;
  nodes.set_plugin(kNominated);
  nodes.drop(full, {Code::Unschedulable, "node(s) kept room for nominated pods"});
}

// ---- where to look

// As upstream: from where the last cycle ended round the circle of nodes, until enough are found;
// nodes after the last one needed are not looked at.
void Framework::find_window(uint32_t limit) {
  const std::span<const uint64_t> words = candidates_.nodes().words();
  const auto n = static_cast<uint32_t>(candidates_.nodes().universe());
  const uint32_t start = next_start_ % n;
  window_ = {.start = start, .visited = n, .count = 0};
  const auto look = [&](uint32_t from, uint32_t end) {
    for (uint32_t at = from; at < end; at = (at | 63U) + 1) {
      uint64_t word = words[at >> 6U] & (~uint64_t{0} << (at & 63U));
      if ((at | 63U) >= end) word &= (uint64_t{1} << (end & 63U)) - 1;
      const auto here = static_cast<uint32_t>(std::popcount(word));
      if (window_.count + here < limit) {
        window_.count += here;
        continue;
      }
      for (; window_.count + 1 < limit; ++window_.count) word &= word - 1;
      const uint32_t last = (at & ~63U) + static_cast<uint32_t>(std::countr_zero(word));
      window_.visited = (last + n - start) % n + 1;
      window_.count = limit;
      return true;
    }
    return false;
  };
  if (!look(start, n)) look(0, start);
  next_start_ = (start + window_.visited) % n;
}

// In the order of their numbers, not round the circle.
NodeId Framework::first_in_window(const NodeSet& nodes) const {
  const NodeSet& candidates = candidates_.nodes();
  const size_t n = candidates.universe(), end = size_t{window_.start} + window_.visited;
  if (end > n) {
    const NodeId found = candidates.next_of_both(nodes, {0}, end - n);
    if (found.is_valid()) return found;
  }
  return candidates.next_of_both(nodes, {window_.start}, std::min(end, n));
}

template <class F>
void Framework::for_each_in_window(F&& f) const {
  const NodeSet& nodes = candidates_.nodes();
  NodeId at = nodes.next({window_.start});
  for (uint32_t i = 0; i < window_.count; ++i, at = nodes.next({at.index + 1})) {
    if (!at.is_valid()) at = nodes.next({0});
    f(at);
  }
}

void Framework::collect_feasible() {
  feasible_.clear();
  for_each_in_window([this](NodeId n) { feasible_.push_back(n); });
}

// ---- scores of classes of alike nodes

// To index all feasible nodes takes far longer than to score those in a window, so it has to pay: a
// spec has come again, and may be expected to do so more often. `candidates_` are the nodes whose
// scores are new.
void Framework::keep_index(const Cycle& cycle, SpecCache& cache) {
  constexpr uint32_t kSightsBefore = 2;
  if (cache.alike.is_usable()) {
    index_scores(cycle, candidates_.nodes(), cache.alike);
  } else if (cache.sights <= kSightsBefore && cache.sights++ == kSightsBefore) {
    cache.alike.reset(cluster_.nodes(), scorers_.size());
    index_scores(cycle, cache.feasible, cache.alike);
  }
}

void Framework::index_scores(const Cycle& cycle, const NodeSet& nodes, ScoreIndex& alike) {
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
    alike.insert(missing_[k], std::span{each_}.subspan(k * scorers, scorers));
  }
}

bool Framework::is_asked(const Scorer& scorer, const Cycle& cycle) {
  return scorer.pre_score.plugin == nullptr ||
         scorer.pre_score.call(&PreScore::pre_score, cycle, feasible_).code != Code::Skip;
}

void Framework::normalize(const Scorer& scorer) {
  ask(*scorer.score.name, [&] {
    scorer.score.plugin->normalize(one_);
    for (const int64_t score : one_) {
      ORRERY_CHECK(score >= 0 && score <= 100, "a normalised score lies in 0..100");
    }
  });
}

// The classes that have a node in the window: either each class is looked for among the nodes, or,
// should that take longer, each node says which class it is of.
void Framework::find_present(const ScoreIndex& alike) {
  const bool are_all_in = window_.count == alike.size();
  present_.clear();
  if (!are_all_in && alike.classes() * (window_.visited / 64 + 1) > window_.count) {
    is_present_.assign(alike.classes(), 0);
    for_each_in_window([&](NodeId n) {
      const size_t c = alike.class_of(n);
      if (std::exchange(is_present_[c], 1) == 0) present_.push_back(c);
    });
    return;
  }
  for (size_t c = 0; c < alike.classes(); ++c) {
    if (alike.count(c) == 0) continue;
    if (are_all_in || first_in_window(alike.nodes(c)).is_valid()) present_.push_back(c);
  }
}

void Framework::score_classes(const Cycle& cycle, const ScoreIndex& alike) {
  find_present(alike);
  feasible_.clear();  // nobody looks at them
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

// As best(), without a look at each node, unless lots are drawn: then as many as there.
NodeId Framework::best_of_alike(const ScoreIndex& alike) {
  NodeId chosen;
  if (tie_break_ == TieBreak::Random) {
    int64_t most = -1;
    uint64_t ties = 1;
    for_each_in_window([&](NodeId n) {
      const int64_t total = total_[alike.class_of(n)];
      if (total < most) return;
      if (total > most) {
        most = total;
        ties = 1;
      } else if (tie_rng_.below(++ties) != 0) {
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
    const NodeId first = first_in_window(alike.nodes(c));
    if (!chosen.is_valid() || first.index < chosen.index) chosen = first;
  }
  return chosen;
}

// ---- scores of single nodes

void Framework::score(const Cycle& cycle, SpecCache& cache) {
  missing_.clear();
  for (const NodeId n : feasible_) {
    if (!cache.scored.contains(n)) missing_.push_back(n);
  }
  total_.assign(feasible_.size(), 0);
  for (size_t i = 0; i < scorers_.size(); ++i) {
    const Scorer& scorer = scorers_[i];
    const bool is_kept = scorer.score.call(&Score::is_node_local);
    const bool is_skipped = !is_asked(scorer, cycle);
    std::vector<int64_t>& raw = cache.raw[i];
    one_.resize(feasible_.size());
    if (is_kept && !missing_.empty()) {  // even if skipped: `scored` speaks for all scorers
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

NodeId Framework::best() {
  size_t chosen = 0;
  uint64_t ties = 1;
  for (size_t k = 1; k < feasible_.size(); ++k) {
    if (total_[k] < total_[chosen]) continue;
    if (total_[k] > total_[chosen]) {
      chosen = k;
      ties = 1;
    } else if (tie_break_ == TieBreak::LowestId) {
      if (feasible_[k].index < feasible_[chosen].index) chosen = k;
    } else if (tie_rng_.below(++ties) == 0) {
      chosen = k;
    }
  }
  return feasible_[chosen];
}

}  // namespace orrery

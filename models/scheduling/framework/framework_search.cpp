// The search for a node by PreFilter, Filter, PreScore and Score, and why a search found no node.
#include <algorithm>
#include <bit>
#include <utility>

#include "models/scheduling/framework/feasible_nodes_to_find.hpp"
#include "models/scheduling/framework/framework.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

bool is_run(const CycleState& state, uint8_t filter) {
  return ((state.narrowing.skipped | state.narrowing.not_run) >> filter & 1) == 0;
}

constexpr Status kNotReady{Code::UnschedulableAndUnresolvable, "node(s) were not ready"};

}  // namespace

Selection Framework::find_node(const Cycle& cycle, const NodeSet* domain) {
  Selection selection;
  if (!run_pre_filter(cycle, domain, selection)) return selection;
  if (run_filter(cycle, selection)) {
    run_score(cycle, selection);
  } else if (!selection.node.is_valid()) {
    selection.plugins |= cycle.state.narrowing.by | rejecting_filters(cycle, domain);
  }
  settle();  // Filter and Score may give commands, too
  return selection;
}

// ---- PreFilter

bool Framework::run_pre_filter(const Cycle& cycle, const NodeSet* domain, Selection& selection) {
  CycleState& state = cycle.state;
  Narrowing& narrowing = state.narrowing;
  state.kept_for_nominated = false;
  narrowing.not_run = narrowing.skipped = narrowing.by = 0;
  narrowing.nodes = domain != nullptr ? *domain : NodeSet::all(cluster_.nodes());
  const auto pre_filters = plugins_.at<PreFilter>();
  for (const auto& pre : pre_filters) narrowing.not_run |= uint32_t{1} << pre.index;
  size_t left = pre_filters.empty() ? 0 : narrowing.nodes.count();
  for (const auto& pre : pre_filters) {
    const Code code = inside([&] {
      return ask(*pre.name, [&] {
        const Status given = pre.plugin->pre_filter(cycle, narrowing.nodes);
        ORRERY_CHECK(
            narrowing.nodes.universe() == cluster_.nodes() && narrowing.nodes.count() <= left,
            "PreFilter may only take nodes away");
        if (!given.ok() && given.code != Code::Skip) selection.reason = given.reason;
        return given.code;
      });
    });
    const uint32_t bit = uint32_t{1} << pre.index;
    narrowing.not_run &= ~bit;
    if (const size_t kept = narrowing.nodes.count(); kept < left) {
      narrowing.by |= bit;
      left = kept;
    }
    if (code == Code::Success) continue;
    if (code == Code::Skip) {
      narrowing.skipped |= bit;
      continue;
    }
    selection.code = code;
    if (code != Code::Error) selection.plugins |= bit;
    // After Unschedulable, the remaining PreFilter plugins still run.
    if (code != Code::Unschedulable) return false;
  }
  if (selection.code != Code::Success) return false;
  if (narrowing.by == 0 || left > 0) return true;
  ORRERY_MARK("scheduling.narrowed_to_none");
  selection.code = Code::UnschedulableAndUnresolvable;
  selection.reason = "0/" + std::to_string(cluster_.nodes()) +
                     " nodes are available: " + narrowing_reason(narrowing.by) +
                     (std::has_single_bit(narrowing.by) ? "." : " simultaneously.");
  selection.plugins = narrowing.by;
  return false;
}

// Why the PreFilter plugins in `by` rejected nodes, in upstream's words.
std::string Framework::narrowing_reason(uint32_t by) const {
  std::string names;
  for (uint32_t rest = by; rest != 0; rest &= rest - 1) {
    if (!names.empty()) names += " ";
    names += name(static_cast<uint8_t>(std::countr_zero(rest)));
  }
  if (std::has_single_bit(by)) return "node(s) didn't satisfy plugin " + names;
  return "node(s) didn't satisfy plugin(s) [" + names + "]";
}

Duration Framework::charge(const Cycle& cycle) const {
  Duration sum;
  for (const auto& c : plugins_.at<Charges>()) {
    if ((cycle.state.narrowing.not_run >> c.index & 1) != 0) continue;
    ask(*c.name, [&] {
      const Duration charge = c.plugin->charge(cycle);
      ORRERY_CHECK(charge >= Duration{}, "Charges takes no negative time");
      sum += charge;
    });
  }
  return sum;
}

// ---- Filter

// Returns the cache of the pod's spec. First updates the cache's index of equal nodes, or makes the
// index if the cache should get one now.
SpecCache& Framework::verdicts(const Cycle& cycle) {
  const uint64_t version = cluster_.version();
  SpecCache& cache = verdicts_.of(cycle);
  if (cache.indexed_version == version) return cache;
  cache.indexed_version = version;
  const bool has_index = cache.alike.is_usable();
  scores_.count_refresh(cache);
  if (!scores_.wants_index(cache)) return cache;
  const bool is_any = verdicts_.look_at_all(cycle, cache);
  if (!has_index) {
    scores_.index_all(cycle, cache);
  } else if (is_any) {
    scores_.index(cycle, cache, verdicts_.newly_feasible());
  }
  return cache;
}

const NodeSet& Framework::allowed_in(const SpecCache& cache, const CycleState& state) {
  scratch_ = state.narrowing.nodes;
  scratch_ &= cache.feasible;
  return scratch_;
}

// Returns true if run_score() must choose among several nodes. Otherwise `selection` has the node
// or the failure.
bool Framework::run_filter(const Cycle& cycle, Selection& selection) {
  CycleState& state = cycle.state;
  SpecCache& cache = verdicts(cycle);
  const bool is_kept_simple = decides_node_by_node(state) && nominations_.empty();
  state.candidates.keep_reasons(false);
  if (is_kept_simple) {
    find_window(cycle, &cache);
  } else {
    verdicts_.look_at_all(cycle, cache);
    state.candidates.reset(allowed_in(cache, state));
    if (!nominations_.empty()) {
      const NodeId first = nominations_.first_choice(cycle.pod.id);
      if (first.is_valid() && state.candidates.nodes().contains(first)) {
        NodeSet one{cluster_.nodes()};
        one.insert(first);
        if (feasible(cycle, one).contains(first)) {
          ORRERY_MARK("scheduling.nominated_node_first");
          selection.node = first;
          selection.visited = selection.feasible = 1;
          return false;
        }
      }
      keep_room_for_nominated(cycle, state.candidates);
    }
    run_filters(cycle, state.candidates, false);
    find_window(cycle, nullptr);
  }
  selection.visited = state.window.visited;
  selection.feasible = state.window.count;
  if (state.window.count == 0) {
    selection.code = Code::Unschedulable;
    return false;
  }
  if (state.window.count > 1 && !scores_.are_none()) return true;
  selection.node = scores_.first(state);
  return false;
}

void Framework::run_score(const Cycle& cycle, Selection& selection) {
  selection.node = scores_.best(cycle, verdicts(cycle));
}

void Framework::run_filters(const Cycle& cycle, Candidates& nodes, bool local) const {
  for (const auto& filter : local ? plugins_.local_filters() : plugins_.wide_filters()) {
    if (!local && !is_run(cycle.state, filter.index)) continue;
    nodes.set_plugin(filter.index);
    filter.call(&Filter::filter, cycle, nodes);
  }
}

bool Framework::decides_node_by_node(const CycleState& state) const {
  return std::ranges::none_of(plugins_.wide_filters(),
                              [&](const auto& filter) { return is_run(state, filter.index); });
}

// Searches the nodes round robin. As upstream, the search starts where the last search ended, and
// stops when enough feasible nodes are found. Example: 500 feasible nodes of 5,000 are enough. A
// search that starts at node 4,900 and visits 21 infeasible nodes ends at node 420.
// Nodes that are not visited cannot be chosen. If `lazily` is not null, look_round() first updates
// the stale verdicts of the nodes to be visited.
void Framework::find_window(const Cycle& cycle, SpecCache* lazily) {
  CycleState& state = cycle.state;
  const auto n = static_cast<uint32_t>(cluster_.nodes());
  const auto limit = static_cast<uint32_t>(
      scores_.are_none() ? 1 : feasible_nodes_to_find(int64_t{n}, percentage_));
  const uint32_t start = next_start_ %= n;
  Window& window = state.window;
  window = {.start = start, .visited = n, .count = 0};
  if (lazily != nullptr) {
    if (lazily->stale_count > 0) look_round(cycle, *lazily, start, limit);
    const bool is_any = lazily->feasible_count > 0;
    state.candidates.reset(is_any ? allowed_in(*lazily, state) : lazily->feasible);
    if (!is_any) return;
  }
  if (state.candidates.nodes().empty()) return;
  const std::span<const uint64_t> words = state.candidates.nodes().words();
  const auto look = [&](uint32_t from, uint32_t end) {
    for (uint32_t at = from; at < end; at = (at | 63U) + 1) {
      uint64_t word = words[at >> 6U] & (~uint64_t{0} << (at & 63U));
      if ((at | 63U) >= end) word &= (uint64_t{1} << (end & 63U)) - 1;
      const auto here = static_cast<uint32_t>(std::popcount(word));
      if (window.count + here < limit) {
        window.count += here;
        continue;
      }
      for (; window.count + 1 < limit; ++window.count) word &= word - 1;
      const uint32_t last = (at & ~63U) + static_cast<uint32_t>(std::countr_zero(word));
      window.visited = (last + n - start) % n + 1;
      window.count = limit;
      return true;
    }
    return false;
  };
  if (!look(start, n)) look(0, start);
  next_start_ = (start + window.visited) % n;
}

// Visits nodes round robin from `start`. Updates the stale verdicts of the visited nodes in
// `state.narrowing.nodes`. Stops once `limit` of these are feasible, or all nodes are visited.
void Framework::look_round(const Cycle& cycle, SpecCache& cache, uint32_t start, uint32_t limit) {
  const auto n = static_cast<uint32_t>(cluster_.nodes());
  const NodeSet& allowed = cycle.state.narrowing.nodes;
  uint32_t found = 0;
  for (uint32_t done = 0; done < n && found < limit;) {
    const uint32_t from = (start + done) % n;
    const uint32_t end = std::min({n, from + std::max(limit - found, 64U), from + (n - done)});
    scratch_.clear();
    scratch_.insert_range({from}, {end});
    scratch_ &= allowed;
    verdicts_.look_at(cycle, cache, scratch_);
    scratch_ &= cache.feasible;
    found += static_cast<uint32_t>(scratch_.count());
    done += end - from;
  }
}

NodeSet Framework::feasible(const Cycle& cycle, const NodeSet& nodes) const {
  Candidates supposed{nodes};
  supposed.keep_reasons(false);
  supposed.keep(cluster_.up(), kNotReady);
  if (cycle.state.narrowing.by != 0) supposed.keep(cycle.state.narrowing.nodes, kNotReady);
  run_filters(cycle, supposed, true);
  run_filters(cycle, supposed, false);
  keep_room_for_nominated(cycle, supposed);
  return supposed.nodes();
}

// Nominated pods of equal or higher priority count as placed, as in kube-scheduler. But unlike
// there, pod affinity and topology spread ignore them.
void Framework::keep_room_for_nominated(const Cycle& cycle, Candidates& nodes) const {
  if (nominations_.empty()) return;
  NodeSet full{cluster_.nodes()};
  bool is_any = false;
  nominations_.nodes().for_each_of_both(nodes.nodes(), [&](NodeId n) {
    if (nominations_.leave_room(cluster_, cycle.pod, n)) return;
    full.insert(n);
    is_any = true;
  });
  if (!is_any) return;
  cycle.state.kept_for_nominated = true;
  nodes.set_plugin(kNominatedPods);
  nodes.drop(full, {Code::Unschedulable, "node(s) kept room for nominated pods"});
}

// ---- why no node was found

uint32_t Framework::rejecting_filters(const Cycle& cycle, const NodeSet* domain) {
  uint32_t plugins = 0;
  if (plugins_.wide_filters().empty()) {
    SpecCache& cache = verdicts(cycle);
    verdicts_.look_at_all(cycle, cache);
    for (uint8_t i = 0; i < cache.rejections.size(); ++i) {
      if (cache.rejections[i] != 0) plugins |= uint32_t{1} << i;
    }
  } else {
    const Candidates diagnosed = diagnose(cycle, domain, false);
    for (const Rejection& r : diagnosed.rejections()) plugins |= uint32_t{1} << r.plugin;
  }
  if (cycle.state.kept_for_nominated) plugins |= uint32_t{1} << kNominatedPods;
  return plugins != 0 ? plugins : filter_plugins();
}

Candidates Framework::diagnose(const Cycle& cycle, const NodeSet* domain, bool with_nodes) const {
  Candidates found;
  found.keep_unresolvable(true);
  found.keep_rejected(with_nodes);
  found.reset(domain != nullptr ? *domain : NodeSet::all(cluster_.nodes()));
  found.set_plugin(kNodeReady);
  found.keep(cluster_.up(), kNotReady);
  const Narrowing& narrowing = cycle.state.narrowing;
  if (narrowing.by != 0) {
    found.set_plugin(static_cast<uint8_t>(std::countr_zero(narrowing.by)));
    const std::string reason = narrowing_reason(narrowing.by);
    found.keep(narrowing.nodes, {Code::UnschedulableAndUnresolvable, reason});
  }
  run_filters(cycle, found, true);
  run_filters(cycle, found, false);
  keep_room_for_nominated(cycle, found);
  return found;
}

std::string Framework::message(const Candidates& diagnosis) const {
  std::string text = "0/" + std::to_string(cluster_.nodes()) + " nodes are available";
  std::vector<std::pair<std::string_view, uint32_t>> reasons;
  for (const Rejection& r : diagnosis.rejections()) {
    const auto known =
        std::ranges::find(reasons, r.reason, &std::pair<std::string_view, uint32_t>::first);
    if (known == reasons.end())
      reasons.emplace_back(r.reason, r.nodes);
    else
      known->second += r.nodes;
  }
  std::vector<std::string> parts;
  for (const auto& [reason, nodes] : reasons) {
    parts.push_back(std::to_string(nodes));
    parts.back() += " ";
    parts.back() += reason;
  }
  std::ranges::sort(parts);  // by text, which begins with the count, as upstream
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
  return text + ".";
}

}  // namespace orrery

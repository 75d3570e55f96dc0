#include "models/scheduling/framework/framework.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// What is remembered per spec grows with the nodes.
size_t caches_for(size_t nodes) {
  constexpr size_t kNodesMax = size_t{1} << 21U, kLeast = 64;
  return std::max(kLeast, kNodesMax / std::max<size_t>(nodes, kLeast));
}

}  // namespace

Framework::Framework(Handle& handle, const ProfileParams& profile)
    : cluster_{handle.cluster()},
      percentage_{profile.percentage_of_nodes_to_score},
      tie_break_{profile.tie_break},
      tie_rng_{handle.rng("scheduling.tie_break")},
      caches_max_{caches_for(cluster_.nodes())},
      restricted_{cluster_.nodes()},
      changed_{cluster_.nodes()},
      before_{cluster_.nodes()},
      candidates_{NodeSet{cluster_.nodes()}},
      supposed_{NodeSet{cluster_.nodes()}} {
  const std::vector<PluginParams> plugins = resolve_plugins(profile);
  ORRERY_CHECK(plugins.size() <= kNominated, "rejection sets have 32 bits");
  for (const PluginParams& plugin : plugins) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(plugin.name);
    ORRERY_CHECK(entry != nullptr, "profiles are checked before the run");
    names_.push_back(plugin.name);
    ask(names_.back(), [&] {
      add(entry->make(handle, plugin.args), plugin.scores ? plugin.weight.value_or(1) : 0);
    });
  }
  ORRERY_CHECK(queue_sort_.plugin != nullptr, "profiles are checked before the run");
  ORRERY_CHECK(pick_devices_.plugin != nullptr, "profiles are checked before the run");
  scores_alike_ &= !scorers_.empty();
}

void Framework::add(std::unique_ptr<Policy> policy, int64_t weight) {
  const auto index = static_cast<uint8_t>(policies_.size());
  const auto bound = [&]<class Q>(Bound<Q>) {
    return Bound<Q>{dynamic_cast<Q*>(policy.get()), &names_.back(), index};
  };
  const auto bind_to = [&]<class Q>(std::vector<Bound<Q>>& list) {
    if (const auto point = bound(Bound<Q>{}); point.plugin != nullptr) list.push_back(point);
  };
  const auto replace = [&]<class Q>(Bound<Q>& last) {
    if (const auto point = bound(Bound<Q>{}); point.plugin != nullptr) last = point;
  };
  bind_to(pre_enqueue_);
  bind_to(next_pod_);
  bind_to(pre_filter_);
  bind_to(filter_);
  bind_to(post_filter_);
  bind_to(reserve_);
  bind_to(permit_);
  bind_to(pre_bind_);
  bind_to(bind_);
  bind_to(post_bind_);
  bind_to(domains_);
  bind_to(score_placement_);
  bind_to(pod_watchers_);
  bind_to(extensions_);
  bind_to(charges_);
  if (!filter_.empty() && filter_.back().index == index) {
    has_global_filters_ |= !filter_.back().plugin->is_node_local();
  }
  const Bound<Score> scorer = bound(Bound<Score>{});
  if (scorer.plugin != nullptr && weight != 0) {
    scorers_.push_back({scorer, bound(Bound<PreScore>{}), weight});
    scores_alike_ &= scorer.plugin->is_node_local() && scorer.plugin->is_by_extremes();
  }
  replace(queue_sort_);
  replace(pick_devices_);
  const EventHints* const hints = hints_.emplace_back(bound(Bound<EventHints>{})).plugin;
  events_of_interest_ |= hints != nullptr ? hints->events() : ~ClusterEvents{0};
  policies_.push_back(std::move(policy));
}

std::string_view Framework::name(uint8_t plugin) const {
  if (plugin == kNodeReady) return "NodeReady";
  return plugin == kNominated ? std::string_view{"NominatedPods"}
                              : std::string_view{names_[plugin]};
}

QueueHint Framework::hint(uint8_t plugin, const PodView& pod, const ClusterEvent& event) const {
  if (plugin == kNodeReady) {
    return event.kind == ClusterEventKind::NodeAdded ? QueueHint::Queue : QueueHint::Skip;
  }
  if (plugin == kNominated) return QueueHint::Queue;
  const Bound<EventHints>& hints = hints_[plugin];
  if (hints.plugin == nullptr) return QueueHint::Queue;
  if ((hints.call(&EventHints::events) & bit_of(event.kind)) == 0) return QueueHint::Skip;
  return hints.call(&EventHints::hint, pod, event);
}

Duration Framework::charge(const Cycle& cycle) const {
  Duration sum;
  for (const auto& c : charges_) {
    if ((narrowing_.unasked >> c.index & 1) != 0) continue;
    ask(*c.name, [&] {
      const Duration charge = c.plugin->charge(cycle);
      ORRERY_CHECK(charge >= Duration{}, "Charges takes no negative time");
      sum += charge;
    });
  }
  return sum;
}

GpuMask Framework::pick_devices(const Cycle& cycle, NodeId node) const {
  return ask(*pick_devices_.name, [&] {
    const GpuMask gpus = pick_devices_.plugin->pick(cycle, node);
    const PodSpec& spec = *cycle.pod.spec;
    ORRERY_CHECK(std::popcount(gpus) == spec.gpus, "PickDevices gives the GPUs that the pod needs");
    for (uint32_t left = gpus; left != 0; left &= left - 1) {
      const auto gpu = static_cast<uint32_t>(std::countr_zero(left));
      ORRERY_CHECK(cluster_.gpu_left_milli(node, gpu) >= spec.gpu_milli,
                   "PickDevices takes GPUs that are free");
    }
    return gpus;
  });
}

uint32_t Framework::filter_plugins() const {
  uint32_t plugins = 0;
  for (const auto& filter : filter_) plugins |= uint32_t{1} << filter.index;
  return plugins;
}

bool Framework::runs(uint8_t filter) const {
  return ((narrowing_.skipped | narrowing_.unasked) >> filter & 1) == 0;
}

void Framework::run_filters(const Cycle& cycle, Candidates& nodes, bool local) {
  for (const auto& filter : filter_) {
    if (filter.call(&Filter::is_node_local) != local) continue;
    if (!local && !runs(filter.index)) continue;
    nodes.set_plugin(filter.index);
    filter.call(&Filter::filter, cycle, nodes);
  }
}

// Enters the verdict on each of `nodes`, and who gave it first, into the cache.
void Framework::run_local_filters(const Cycle& cycle, const NodeSet& nodes, SpecCache& cache) {
  before_ = nodes;
  candidates_.reset(nodes);
  const auto blame = [&](uint8_t plugin) {
    before_ -= candidates_.nodes();
    before_.for_each([&](NodeId n) {
      cache.rejected_by[n.index] = plugin;
      ++cache.rejections[plugin];
    });
    before_ = candidates_.nodes();
  };
  candidates_.keep(cluster_.up(), {Code::UnschedulableAndUnresolvable, "node(s) were not ready"});
  blame(kNodeReady);
  for (const auto& filter : filter_) {
    if (!filter.call(&Filter::is_node_local)) continue;
    candidates_.set_plugin(filter.index);
    filter.call(&Filter::filter, cycle, candidates_);
    blame(filter.index);
  }
  cache.feasible |= candidates_.nodes();
}

uint32_t Framework::rejecting_plugins(const PodView& pod, Time now, const NodeSet* domain) {
  const Cycle cycle{now, cluster_, pod};
  Selection rejected;
  return narrow(cycle, domain, rejected) ? rejecting_filters(cycle, domain) : rejected.plugins;
}

uint32_t Framework::rejecting_filters(const Cycle& cycle, const NodeSet* domain) {
  uint32_t plugins = 0;
  if (has_global_filters_) {
    for (const Rejection& r : diagnose(cycle.pod, cycle.now, domain, false).rejections()) {
      plugins |= uint32_t{1} << r.plugin;
    }
  } else {
    const SpecCache& cache = refreshed(cycle);
    for (uint8_t i = 0; i < cache.rejections.size(); ++i) {
      if (cache.rejections[i] != 0) plugins |= uint32_t{1} << i;
    }
  }
  if (was_kept_for_nominated_) plugins |= uint32_t{1} << kNominated;
  return plugins != 0 ? plugins : filter_plugins();
}

SpecCache& Framework::cache_of(SpecId spec) {
  const size_t at = spec.index % caches_max_;
  if (at >= caches_.size()) caches_.resize(at + 1);
  if (!caches_[at]) caches_[at] = std::make_unique<SpecCache>();
  return *caches_[at];
}

SpecCache& Framework::refreshed(const Cycle& cycle) {
  const SpecId spec = cycle.pod.spec_id;
  SpecCache& cache = cache_of(spec);
  const uint64_t version = cluster_.version();
  if (cache.spec == spec && cache.version == version) return cache;
  if (cache.spec != spec || cache.version == UINT64_MAX || !cluster_.log_covers(cache.version)) {
    const size_t n = cluster_.nodes();
    cache.spec = spec;
    cache.feasible = NodeSet{n};
    cache.scored = NodeSet{n};
    cache.rejected_by.assign(n, SpecCache::kFeasible);
    cache.rejections.fill(0);
    cache.capacity_version = UINT64_MAX;
    cache.raw.resize(scorers_.size());
    cache.alike.give_up();
    cache.sights = 0;
    changed_.fill();
  } else {
    changed_.clear();
    for (const NodeId n : cluster_.touched_since(cache.version)) {
      if (changed_.contains(n)) continue;
      changed_.insert(n);
      cache.scored.erase(n);
      cache.alike.erase(n);
      uint8_t& by = cache.rejected_by[n.index];
      if (by != SpecCache::kFeasible) --cache.rejections[by];
      by = SpecCache::kFeasible;
    }
    cache.feasible -= changed_;
  }
  run_local_filters(cycle, changed_, cache);
  if (scores_alike_) keep_index(cycle, cache);
  cache.version = version;
  return cache;
}

bool Framework::narrow(const Cycle& cycle, const NodeSet* domain, Selection& selection) {
  was_kept_for_nominated_ = false;
  narrowing_.pod = cycle.pod.id;
  narrowing_.version = cluster_.version();
  narrowing_.unasked = narrowing_.skipped = narrowing_.by = 0;  // its nodes keep their storage
  for (const auto& pre : pre_filter_) narrowing_.unasked |= uint32_t{1} << pre.index;
  if (domain != nullptr)
    restricted_ = *domain;
  else
    restricted_.fill();
  size_t left = pre_filter_.empty() ? 0 : restricted_.count();
  for (const auto& pre : pre_filter_) {
    const Status status = ask(*pre.name, [&] {
      const Status given = pre.plugin->pre_filter(cycle, restricted_);
      ORRERY_CHECK(restricted_.universe() == cluster_.nodes() && restricted_.count() <= left,
                   "PreFilter may only take nodes away");
      return given;
    });
    const uint32_t bit = uint32_t{1} << pre.index;
    narrowing_.unasked &= ~bit;
    if (const size_t kept = restricted_.count(); kept < left) {
      narrowing_.by |= bit;
      narrowing_.nodes = restricted_;
      left = kept;
    }
    if (status.ok()) continue;
    if (status.code == Code::Skip) {
      narrowing_.skipped |= bit;
      continue;
    }
    selection.code = status.code;
    selection.reason = status.reason;
    if (status.code != Code::Error) selection.plugins |= bit;
    if (status.code != Code::Unschedulable) return false;  // a plain "no" lets the rest speak
  }
  const uint32_t by = narrowing_.by;
  if (selection.code != Code::Success) return false;
  if (by == 0 || left > 0) return true;
  ORRERY_MARK("scheduling.narrowed_to_none");
  std::string reason = "0/" + std::to_string(cluster_.nodes()) + " nodes are available: ";
  reason += narrowing_reason() + (std::has_single_bit(by) ? "." : " simultaneously.");
  selection.code = Code::UnschedulableAndUnresolvable;
  selection.reason = *narrowed_to_none_.insert(std::move(reason)).first;
  selection.plugins = by;
  return false;
}

// As upstream words it.
std::string Framework::narrowing_reason() const {
  std::string names;
  for (uint32_t rest = narrowing_.by; rest != 0; rest &= rest - 1) {
    if (!names.empty()) names += " ";
    names += name(static_cast<uint8_t>(std::countr_zero(rest)));
  }
  if (std::has_single_bit(narrowing_.by)) return "node(s) didn't satisfy plugin " + names;
  return "node(s) didn't satisfy plugin(s) [" + names + "]";
}

void Framework::count_capacity(const PodSpec& spec, SpecCache& cache) const {
  const auto look = [&](NodeId n) {
    const auto pods = cache.feasible.contains(n)
                          ? static_cast<uint8_t>(std::popcount(cluster_.idle_gpus(n)) / spec.gpus)
                          : uint8_t{0};
    const uint8_t before = std::exchange(cache.capacity_on[n.index], pods);
    cache.capacity_in[cluster_.leaf(n)] += uint32_t{pods} - before;
    cache.capacity += int64_t{pods} - before;
  };
  if (cache.capacity_version == UINT64_MAX || !cluster_.log_covers(cache.capacity_version)) {
    cache.capacity_on.assign(cluster_.nodes(), 0);
    cache.capacity_in.assign(cluster_.leaves(), 0);
    cache.capacity = 0;
    cache.feasible.for_each(look);
  } else {
    for (const NodeId n : cluster_.touched_since(cache.capacity_version)) look(n);
  }
  cache.capacity_version = cache.version;
}

int64_t Framework::gpu_capacity(const PodView& pod, Time now, const GangDomain* domain) {
  if (pod.spec->gpus == 0 || pod.spec->gpu_milli != kMilli) return INT64_MAX;
  SpecCache& cache = refreshed(Cycle{now, cluster_, pod});
  if (cache.capacity_version != cache.version) count_capacity(*pod.spec, cache);
  if (domain == nullptr) return cache.capacity;
  if (const auto* const leaf = std::get_if<InLeaf>(domain)) return cache.capacity_in[leaf->leaf];
  if (const auto* const node = std::get_if<NodeId>(domain)) return cache.capacity_on[node->index];
  int64_t pods = 0;
  cache.feasible.for_each_of_both(std::get<NodeSet>(*domain),
                                  [&](NodeId n) { pods += cache.capacity_on[n.index]; });
  return pods;
}

const Candidates& Framework::diagnose(const PodView& pod, Time now, const NodeSet* domain,
                                      bool with_nodes) {
  const Cycle cycle{now, cluster_, pod};
  // A failed gang was rolled back: PreFilter last saw other nodes, or another member.
  const bool is_narrowed = narrowing_.pod == pod.id && narrowing_.version == cluster_.version();
  Selection rejected;
  if (!is_narrowed) narrow(cycle, domain, rejected);
  NodeSet all = domain != nullptr ? *domain : NodeSet::all(cluster_.nodes());
  candidates_.keep_unresolvable(true);
  candidates_.keep_rejected(with_nodes);
  candidates_.reset(all);
  candidates_.set_plugin(kNodeReady);
  candidates_.keep(cluster_.up(), {Code::UnschedulableAndUnresolvable, "node(s) were not ready"});
  if (narrowing_.by != 0) {
    narrowed_text_ = narrowing_reason();
    candidates_.set_plugin(static_cast<uint8_t>(std::countr_zero(narrowing_.by)));
    candidates_.keep(narrowing_.nodes, {Code::UnschedulableAndUnresolvable, narrowed_text_});
  }
  run_filters(cycle, candidates_, true);
  run_filters(cycle, candidates_, false);
  keep_room_for_nominated(cycle, candidates_);
  candidates_.keep_unresolvable(false);
  candidates_.keep_rejected(false);
  return candidates_;
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
  std::ranges::sort(parts);  // as upstream: with their numbers, as text
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
  return text + ".";
}

}  // namespace orrery

#include "models/scheduling/framework/framework.hpp"

#include <algorithm>
#include <bit>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Duration kPermitTimeoutMax = 15_min;  // upstream's limit for one plugin's wait

bool is_in(const GangDomain& domain, const ClusterState& cluster) {
  if (const auto* const leaf = std::get_if<InLeaf>(&domain)) return leaf->leaf < cluster.leaves();
  if (const auto* const node = std::get_if<NodeId>(&domain)) return node->index < cluster.nodes();
  return std::get<NodeSet>(domain).universe() == cluster.nodes();
}

Verdict rejection(const Status& status, uint8_t plugin) {
  return {.code = status.code,
          .reason = std::string{status.reason},
          .plugins = status.code == Code::Error ? 0 : uint32_t{1} << plugin};
}

}  // namespace

Framework::Framework(SchedulerServices& services, const Nominations& nominations,
                     const ProfileParams& profile)
    : services_{services},
      cluster_{services.cluster()},
      nominations_{nominations},
      percentage_{profile.percentage_of_nodes_to_score},
      plugins_{services, *this, profile},
      verdicts_{cluster_, plugins_},
      scores_{cluster_, plugins_, profile.tie_break},
      scratch_{cluster_.nodes()} {
  for (uint8_t i = 0; i < plugins_.size(); ++i) {
    const Bound<EventHints>& hints = plugins_.hints(i);
    events_of_interest_ |=
        hints.plugin == nullptr ? ~ClusterEvents{0} : hints.call(&EventHints::events);
  }
}

// Carries out the pending commands in order, unless an extension point is running. A command may
// lead to calls of plugins that give further commands. These join the end of the queue.
void Framework::settle() {
  if (depth_ > 0 || is_settling_) return;
  is_settling_ = true;
  for (; !commands_.empty(); commands_.pop_front()) {
    const PolicyCommand& command = commands_.front();
    ask(plugins_.name(command.plugin), [&] { services_.carry_out(command, *this); });
  }
  is_settling_ = false;
}

std::string_view Framework::name(uint8_t plugin) const {
  if (plugin == kNodeReady) return "NodeReady";
  return plugin == kNominatedPods ? std::string_view{"NominatedPods"} : plugins_.name(plugin);
}

uint32_t Framework::filter_plugins() const {
  uint32_t plugins = 0;
  for (const auto& filter : plugins_.at<Filter>()) plugins |= uint32_t{1} << filter.index;
  return plugins;
}

// ---- the queue

bool Framework::less(const QueuedUnit& a, const QueuedUnit& b) const {
  return plugins_.at<QueueSort>().back().call(&QueueSort::less, a, b);
}

bool Framework::run_pre_enqueue(const PodView& pod) {
  return inside([&] {
    return std::ranges::all_of(plugins_.at<PreEnqueue>(), [&](const auto& p) {
      return p.call(&PreEnqueue::pre_enqueue, pod).ok();
    });
  });
}

PodId Framework::run_next_pod() {
  return inside([&] { return plugins_.at<NextPod>().front().call(&NextPod::next); });
}

void Framework::check_next_pod(size_t passed_over, size_t pods) const {
  ask(*plugins_.at<NextPod>().front().name,
      [&] { ORRERY_CHECK(passed_over <= pods, "NextPod names a pod in the queue, or none"); });
}

QueueHint Framework::hint(uint8_t plugin, const PodView& pod, const ClusterEvent& event) const {
  if (plugin == kNodeReady) {
    return event.kind == ClusterEventKind::NodeAdded ? QueueHint::Queue : QueueHint::Skip;
  }
  if (plugin == kNominatedPods) return QueueHint::Queue;
  const Bound<EventHints>& hints = plugins_.hints(plugin);
  if (hints.plugin == nullptr) return QueueHint::Queue;
  if ((hints.call(&EventHints::events) & bit_of(event.kind)) == 0) return QueueHint::Skip;
  return hints.call(&EventHints::hint, pod, event);
}

// ---- after a pod has a node

GpuMask Framework::pick_devices(const Cycle& cycle, NodeId node) const {
  const Bound<PickDevices>& picker = plugins_.at<PickDevices>().back();
  return ask(*picker.name, [&] {
    const GpuMask gpus = picker.plugin->pick(cycle, node);
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

Verdict Framework::run_reserve(const Cycle& cycle, NodeId node) {
  return inside([&]() -> Verdict {
    for (const auto& r : plugins_.at<Reserve>()) {
      const Status status = r.call(&Reserve::reserve, cycle, node);
      if (!status.ok()) return rejection(status, r.index);
    }
    return {};
  });
}

void Framework::run_unreserve(const PodView& pod, NodeId node) {
  const auto reserves = plugins_.at<Reserve>();
  for (size_t i = reserves.size(); i-- > 0;) {
    inside([&] { reserves[i].call(&Reserve::unreserve, pod, node); });
  }
}

Verdict Framework::run_permit(const Cycle& cycle, NodeId node) {
  Verdict verdict;
  for (const auto& p : plugins_.at<Permit>()) {
    const Verdict given = inside([&] { return permit_of(p, cycle, node); });
    if (given.ok()) continue;
    if (given.code != Code::Wait) return given;
    verdict.code = Code::Wait;
    if (verdict.reason.empty()) verdict.reason = given.reason;
    verdict.plugins |= given.plugins;
    verdict.timeout = std::min(verdict.timeout, given.timeout);
  }
  return verdict;
}

Verdict Framework::permit_of(const Bound<Permit>& p, const Cycle& cycle, NodeId node) const {
  const PermitStatus status = ask(*p.name, [&] {
    const PermitStatus given = p.plugin->permit(cycle, node);
    ORRERY_CHECK(given.timeout >= Duration{}, "Permit waits no negative time");
    return given;
  });
  if (status.code == Code::Success || status.code == Code::Skip) return {};
  Verdict verdict = rejection({status.code, status.reason}, p.index);
  if (status.code == Code::Wait) verdict.timeout = std::min(status.timeout, kPermitTimeoutMax);
  return verdict;
}

Verdict Framework::run_pre_bind(const PodView& pod, NodeId node) {
  return inside([&]() -> Verdict {
    for (const auto& p : plugins_.at<PreBind>()) {
      const Status status = p.call(&PreBind::pre_bind, pod, node);
      if (!status.ok()) return rejection(status, p.index);
    }
    return {};
  });
}

Verdict Framework::run_bind(const PodView& pod, NodeId node) {
  return inside([&]() -> Verdict {
    for (const auto& b : plugins_.at<Bind>()) {
      const Status status = b.call(&Bind::bind, pod, node);
      if (status.ok()) return {};
      if (status.code != Code::Skip) return rejection(status, b.index);
    }
    return {};  // the framework binds the pod, because no plugin did
  });
}

void Framework::run_post_bind(const PodView& pod, NodeId node) {
  inside([&] {
    for (const auto& post : plugins_.at<PostBind>()) post.call(&PostBind::post_bind, pod, node);
  });
}

bool Framework::reads_candidates(const PodView& pod) const {
  return std::ranges::any_of(plugins_.at<PostFilter>(), [&](const auto& post) {
    return post.call(&PostFilter::reads_candidates, pod);
  });
}

// As in upstream's RunPostFilterPlugins, a plugin that returns Success or
// UnschedulableAndUnresolvable is the last one called. Example: if DefaultPreemption makes room for
// the pod, the gang plugin after DefaultPreemption does not reject the gang.
Duration Framework::run_post_filter(const Cycle& cycle, const Diagnosis& diagnosis) {
  Duration cost;
  for (const auto& post : plugins_.at<PostFilter>()) {
    const Status status = inside([&] {
      const Status given = post.call(&PostFilter::post_filter, cycle, diagnosis);
      ask(*post.name, [&] {
        const Duration charge = post.plugin->charge(cycle.state);
        ORRERY_CHECK(charge >= Duration{}, "PostFilter takes no negative time");
        cost += charge;
      });
      return given;
    });
    if (status.ok() || status.code == Code::UnschedulableAndUnresolvable) break;
  }
  return cost;
}

// ---- whole gangs

bool Framework::places_lone_pods() const {
  return std::ranges::any_of(plugins_.at<Domains>(),
                             [](const auto& d) { return d.call(&Domains::places_lone_pods); });
}

std::vector<GangDomain> Framework::domains(const Cycle& cycle, const GangView& gang) {
  std::vector<GangDomain> all;
  for (const auto& d : plugins_.at<Domains>()) {
    if (!gang.id.is_valid() && !d.call(&Domains::places_lone_pods)) continue;
    inside([&] {
      ask(*d.name, [&] {
        d.plugin->domains(cycle, gang, all);
        ORRERY_CHECK(
            std::ranges::all_of(all, [&](const GangDomain& one) { return is_in(one, cluster_); }),
            "Domains names nodes and leaves of the cluster");
      });
    });
  }
  return all;
}

int64_t Framework::score_placement(const Cycle& cycle, const GangView& gang,
                                   std::span<const NodeId> nodes) const {
  int64_t score = 0;
  for (const auto& s : plugins_.at<ScorePlacement>()) {
    ask(*s.name, [&] {
      const int64_t given = s.plugin->score_placement(cycle, gang, nodes);
      ORRERY_CHECK(given >= 0 && given <= 100, "the score of a placement lies in 0..100");
      score += given * plugins_.weight(s.index);
    });
  }
  return score;
}

int64_t Framework::gpu_capacity(const Cycle& cycle, const GangDomain* domain) {
  if (cycle.pod.spec->gpus == 0 || cycle.pod.spec->gpu_milli != kMilli) return INT64_MAX;
  return verdicts_.gpu_capacity(cycle, verdicts(cycle), domain);
}

uint32_t Framework::rejecting_plugins(const Cycle& cycle, const NodeSet* domain) {
  Selection rejected;
  return run_pre_filter(cycle, domain, rejected) ? rejecting_filters(cycle, domain)
                                                 : rejected.plugins;
}

}  // namespace orrery

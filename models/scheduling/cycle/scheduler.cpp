#include "models/scheduling/cycle/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Duration kPermitTimeoutMax = 15_min;  // upstream's cap on one plugin's wait

}  // namespace

Scheduler::Scheduler(Sim sim, ClusterState& cluster, JobTable& jobs, JobController& controller,
                     const ProfileParams& profile, bool record_attempts,
                     const Fragmentation* fragmentation)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      controller_{controller},
      driver_{resolve_driver(profile)},
      head_of_line_{profile.queue.head_of_line},
      cost_{profile.cost},
      fragmentation_{fragmentation},
      framework_{std::make_unique<Framework>(static_cast<Handle&>(*this), profile)},
      queue_{make_queue(profile.queue)},
      transaction_{cluster},
      preemptions_{{.sim = sim_,
                    .cluster = cluster_,
                    .transaction = transaction_,
                    .jobs = jobs_,
                    .controller = controller_,
                    .handle = *this}},
      no_candidates_{NodeSet{cluster.nodes()}},
      attempt_log_{sim_.recorder, record_attempts} {
  controller_.pods_created.connect([this](std::span<const PodId> pods) { pods_created(pods); });
  controller_.pod_removed.connect([this](PodId pod) { pod_removed(pod); });
  controller_.job_over.connect([this](JobId job) { job_over(job); });
  wire_preemptions();
}

Scheduler::PodTrack& Scheduler::track(PodId pod) {
  if (pod.index >= pods_.size()) {
    ORRERY_CHECK(pod.index < jobs_.pods_bound(), "there is such a pod");
    pods_.resize(jobs_.pods_bound());
  }
  return pods_[pod.index];
}

Scheduler::GangTrack& Scheduler::track(GangId gang) {
  if (gang.index >= gangs_.size()) {
    ORRERY_CHECK(gang.index < jobs_.gangs_bound(), "there is such a gang");
    gangs_.resize(jobs_.gangs_bound());
  }
  return gangs_[gang.index];
}

PodId Scheduler::unit_of(PodId pod) const {
  return is_gang_unit(pod) ? jobs_.gang(jobs_.pod(pod).gang).first : pod;
}

QueuedUnit Scheduler::queued_unit(PodId pod) const {
  const Pod& p = jobs_.pod(pod);
  const PodTrack& t = pods_[pod.index];
  QueuedUnit unit{.pod = unit_of(pod),
                  .gang = p.gang,
                  .priority = jobs_.spec(pod).priority,
                  .queued = now(),
                  .initial_attempt = t.was_attempted ? t.initial_attempt : now(),
                  .gang_created = now()};
  unit.gang_created = unit.initial_attempt;
  if (p.gang.is_valid()) {
    unit.gang_created = jobs_.gang(p.gang).created_at;
    unit.gang_failed = gangs_[p.gang.index].last_failure;
  }
  return unit;
}

void Scheduler::kick() {
  if (is_running_ || preemptions_.is_awaited()) return;
  Time at = std::max(now(), busy_until_);
  if (events_.empty() && !asks_next_ && (is_blocked() || !queue_.has_ready(at))) {
    at = std::max(at, queue_.next_flush(now()));
  }
  if (at == Time::max() || (sim_.engine.is_pending(wake_) && wake_at_ <= at)) return;
  sim_.engine.cancel(wake_);
  wake_at_ = at;
  wake_ = sim_.engine.at(
      at, Label{"scheduling.cycle"}, [this] { run(); }, Phase::Control);
}

void Scheduler::run() {
  is_running_ = true;
  wake_at_ = Time::max();
  queue_.flush(now());
  deliver_events();
  while (busy_until_ <= now() && !preemptions_.is_awaited()) {
    const std::optional<QueuedUnit> unit = next_unit();
    if (!unit) break;
    ++counters_.attempts;
    if (++attempts_in_vain_ % kVainAttempts == 0) tried_in_vain.emit();
    PodTrack& t = track(unit->pod);
    if (!t.was_attempted) {
      t.was_attempted = true;
      t.initial_attempt = now();
      queue_.view(unit->pod).initial_attempt = now();
    }
    to_bind_.clear();
    const Duration cost =
        is_gang_unit(unit->pod) ? cycle_gang(unit->pod, unit->gang) : cycle_pod(unit->pod);
    tried_ = {};
    asks_next_ = !framework_->next_pod().empty();
    counters_.busy += cost;
    busy_until_ = now() + cost;
    cycle_end_ = busy_until_;
    preemptions_.carry_out(cycle_end_);
    for (const auto& [pod, after] : to_bind_) {
      const Time due = after == Duration::max() ? cycle_end_ : now() + after;
      binding_.push_back({due + cost_.bind, pod, track(pod).reservation});
    }
    bind_due();
    deliver_events();
  }
  is_running_ = false;
  kick();
}

std::optional<QueuedUnit> Scheduler::next_unit() {
  if (std::exchange(asks_next_, false)) {
    const Bound<NextPod>& feeder = framework_->next_pod().front();
    size_t passed_over = 0;
    for (PodId pod = feeder.call(&NextPod::next); pod.is_valid();) {
      if (const auto unit = queue_.take(pod)) return unit;
      pod = ask(*feeder.name, [&] {
        ORRERY_CHECK(++passed_over <= jobs_.pods_bound(),
                     "NextPod names a pod that waits, or none");
        return feeder.plugin->next();
      });
    }
    deliver_events();  // it may have turned pods away
  }
  return is_blocked() ? std::nullopt : queue_.pop(now());
}

Duration Scheduler::cycle_pod(PodId pod) {
  const PodView view = this->pod(pod);
  ++jobs_.pod(pod).attempts;
  Selection found = framework_->select(view, now(), nullptr);
  counters_.nodes_visited += found.visited;
  const Cycle cycle{now(), cluster_, view};
  Duration cost = cost_.per_cycle + cost_.per_node * found.visited + framework_->charge(cycle);
  if (!found.node.is_valid()) return cost + fail(pod, pod, found, nullptr);
  cost += cost_.per_pod;
  const DeviceGrant grant{framework_->pick_devices(cycle, found.node), view.spec->gpu_milli};
  transaction_.place(found.node, jobs_.request(pod), grant);
  transaction_.commit();
  assume(pod, found.node, grant);
  if (!reserve(view, found.node, found) || !permit(view, found.node, found)) {
    unassume(pod, {}, std::nullopt);
    queue_.fail(pod, now(), found.plugins, found.code == Code::Pending ? found.plugins : 0);
    record(pod, found.plugins == 0 ? AttemptOutcome::Error : AttemptOutcome::Rejected, found,
           found.reason);
    tell_failure(pod);
    if (found.code != Code::Error) no_node_found.emit(pod);
    return cost;
  }
  return cost;
}

Duration Scheduler::fail(PodId unit, PodId pod, const Selection& why, const NodeSet* domain) {
  const PodView view = this->pod(pod);
  const auto post_filters = framework_->post_filter();
  // To go over all nodes once more for their reasons costs more than the attempt itself.
  const bool is_told = attempt_log_.is_on();
  const bool has_none = why.reason.empty();
  const bool is_asked_for = has_none && std::ranges::any_of(post_filters, [&](const auto& post) {
                              return post.call(&PostFilter::reads_candidates, view);
                            });
  const bool is_by_filters = (why.plugins & framework_->filter_plugins()) != 0;
  const Candidates& diagnosed = is_asked_for || (is_told && (has_none || is_by_filters))
                                    ? framework_->diagnose(view, now(), domain, is_told)
                                    : no_candidates_;
  const Candidates& candidates = has_none ? diagnosed : no_candidates_;
  const std::string message = is_told && has_none ? framework_->message(diagnosed) : std::string{};
  const uint64_t attempt = attempt_log_.next();
  if (is_told) {
    attempt_log_.write_rejections(attempt, *framework_, diagnosed, why.plugins, why.reason);
  }
  const Duration cost = post_filter(view, {candidates, why.reason, why.plugins});
  back_to_queue(unit, pod, why);
  record(attempt, pod,
         why.code == Code::Error ? AttemptOutcome::Error : AttemptOutcome::Unschedulable, why,
         has_none ? std::string_view{message} : why.reason);
  tell_failure(unit);
  // Where others make room for it, no node has to be added.
  const bool is_nominated = preemptions_.nominated_node(pod).is_valid();
  if (why.code != Code::Error && !is_nominated) no_node_found.emit(unit);
  return cost;
}

Duration Scheduler::post_filter(const PodView& view, const Diagnosis& diagnosis) {
  const Cycle cycle{now(), cluster_, view};
  const uint64_t victims = preemptions_.victims();
  Duration cost;
  for (const auto& post : framework_->post_filter()) {
    const Status status = post.call(&PostFilter::post_filter, cycle, diagnosis);
    ask(*post.name, [&] {
      const Duration charge = post.plugin->charge();
      ORRERY_CHECK(charge >= Duration{}, "PostFilter takes no negative time");
      cost += charge;
    });
    if (status.ok() || status.code == Code::UnschedulableAndUnresolvable) break;
  }
  tried_.victims = static_cast<uint32_t>(preemptions_.victims() - victims);
  return cost;
}

void Scheduler::back_to_queue(PodId unit, PodId pod, const Selection& why) {
  if (head_of_line_ == HeadOfLine::Block && why.code != Code::Error) {
    ORRERY_MARK("scheduling.head_blocks");
    queue_.put_back(unit);
    is_blocked_ = true;
    blocking_ = unit;
    return;
  }
  queue_.fail(unit, now(), why.plugins, why.code == Code::Pending ? why.plugins : 0);
  if (preemptions_.is_asking(pod)) queue_.hold(unit);
}

void Scheduler::assume(PodId pod, NodeId node, DeviceGrant grant) {
  PodTrack& t = track(pod);
  t.node = node;
  t.grant = grant;
  t.stage = Stage::Binding;
  t.reservation = ++last_reservation_;
  t.assumed_slot = static_cast<uint32_t>(assumed_.size());
  assumed_.push_back(pod);
  preemptions_.placed(pod, node, grant);
  if (const GangId gang = jobs_.pod(pod).gang; gang.is_valid()) ++track(gang).assumed;
  pod_assigned.emit(pod, node);
  post({ClusterEventKind::AssignedPodAdded, node, jobs_.pod(pod).spec, jobs_.pod(pod).gang, pod});
}

// Undoes a reservation: Unreserve of every plugin in reverse order, then the resources.
void Scheduler::unassume(PodId pod, std::string_view reason,
                         std::optional<AttemptOutcome> outcome) {
  PodTrack& t = track(pod);
  const Pod& p = jobs_.pod(pod);
  if (t.stage == Stage::Waiting) stop_waiting(pod);
  t.stage = Stage::Queued;  // whether it stands in line again is the caller's business
  assumed_[t.assumed_slot] = assumed_.back();
  track(assumed_.back()).assumed_slot = t.assumed_slot;
  assumed_.pop_back();
  if (p.gang.is_valid()) --track(p.gang).assumed;
  preemptions_.left(pod);
  transaction_.evict(t.node, jobs_.request(pod), t.grant);
  transaction_.commit();
  pod_unassigned.emit(pod, t.node);
  post({ClusterEventKind::AssignedPodDeleted, t.node, p.spec, p.gang, pod});
  const PodView view = this->pod(pod);
  const auto reserves = framework_->reserve();
  for (size_t i = reserves.size(); i-- > 0;) {
    current_plugin_ = reserves[i].index;
    reserves[i].call(&Reserve::unreserve, view, t.node);
  }
  if (outcome) record(pod, *outcome, {}, reason);
}

// After a failure past the scheduling cycle. A gang of which other members stand in line does too.
void Scheduler::requeue(PodId pod, uint32_t plugins) {
  const PodId unit = unit_of(pod);
  if (queue_.place(unit) == SchedulingQueue::Place::None) queue_.fail(unit, now(), plugins, 0);
  if (api_ != nullptr) api_->scheduling_failed(pod);
}

// As upstream, reports each pod of a gang that is placed as a whole, except pods with a node.
void Scheduler::tell_failure(PodId unit) {
  if (api_ == nullptr) return;
  for_each_unbound(unit, [this](PodId pod, bool is_reserved) {
    if (!is_reserved) api_->scheduling_failed(pod);
  });
}

bool Scheduler::reserve(const PodView& view, NodeId node, Selection& why) {
  const Cycle cycle{now(), cluster_, view};
  for (const auto& r : framework_->reserve()) {
    current_plugin_ = r.index;
    const Status status = r.call(&Reserve::reserve, cycle, node);
    if (status.ok()) continue;
    ORRERY_MARK("scheduling.reserve_refused");
    why.code = status.code;
    why.reason = status.reason;
    why.plugins = status.code == Code::Error ? 0 : uint32_t{1} << r.index;
    return false;
  }
  return true;
}

bool Scheduler::permit(const PodView& view, NodeId node, Selection& why) {
  const Cycle cycle{now(), cluster_, view};
  uint32_t waits = 0;
  Duration timeout = Duration::max();
  for (const auto& p : framework_->permit()) {
    const PermitStatus status = ask_permit(p, cycle, node);
    if (status.code == Code::Success || status.code == Code::Skip) continue;
    if (status.code == Code::Wait) {
      waits |= uint32_t{1} << p.index;
      timeout = std::min({timeout, status.timeout, kPermitTimeoutMax});
      continue;
    }
    why.code = status.code;
    why.reason = status.reason;
    why.plugins = status.code == Code::Error ? 0 : uint32_t{1} << p.index;
    return false;
  }
  if (waits != 0) {
    start_waiting(view.id, waits, timeout);
    record(view.id, AttemptOutcome::Waiting, why, "waiting for the rest of the gang");
  } else {
    to_binding(view.id);
    record(view.id, AttemptOutcome::Scheduled, why, {});
  }
  return true;
}

void Scheduler::start_waiting(PodId pod, uint32_t plugins, Duration timeout) {
  PodTrack& t = track(pod);
  t.stage = Stage::Waiting;
  t.waits_for = plugins;
  ++waiting_;
  if (const GangId gang = jobs_.pod(pod).gang; gang.is_valid()) track(gang).waiting.push_back(pod);
  t.timeout = sim_.engine.after(
      timeout, Label{"scheduling.permit_timeout"},
      [this, pod] {
        ORRERY_MARK("scheduling.permit_timeout");
        ++counters_.permit_timeouts;
        turn_away(pod, "timed out waiting in Permit", AttemptOutcome::TimedOut);
        kick();
      },
      Phase::Control);
}

void Scheduler::stop_waiting(PodId pod) {
  PodTrack& t = track(pod);
  sim_.engine.cancel(t.timeout);
  t.waits_for = 0;
  --waiting_;
  if (const GangId gang = jobs_.pod(pod).gang; gang.is_valid()) {
    auto& waiting = track(gang).waiting;
    // Usually the first or the last of them leaves.
    if (!waiting.empty() && waiting.back() == pod)
      waiting.pop_back();
    else
      std::erase(waiting, pod);
  }
  t.stage = Stage::Binding;
}

void Scheduler::record(PodId pod, AttemptOutcome outcome, const Selection& why,
                       std::string_view text) {
  if (!attempt_log_.is_on()) return;
  const uint64_t attempt = attempt_log_.next();
  attempt_log_.write_rejections(attempt, *framework_, no_candidates_, why.plugins, text);
  record(attempt, pod, outcome, why, text);
}

void Scheduler::record(uint64_t attempt, PodId pod, AttemptOutcome outcome, const Selection& why,
                       std::string_view text) {
  if (!attempt_log_.is_on()) return;
  const Pod& p = jobs_.pod(pod);
  AttemptRow row{.attempt = attempt,
                 .at = now(),
                 .job = jobs_.job(p.job).serial,
                 .rank = p.rank,
                 .outcome = outcome,
                 .node = outcome == AttemptOutcome::Unschedulable ? NodeId{} : why.node,
                 .visited = why.visited,
                 .feasible = why.feasible,
                 .pods = tried_.pods,
                 .placeable = tried_.placeable,
                 .domains = tried_.domains,
                 .nominated = preemptions_.nominated_node(pod),
                 .victims = tried_.victims,
                 .message = text};
  attempt_log_.write(row);
}

}  // namespace orrery

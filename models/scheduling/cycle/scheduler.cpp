#include "models/scheduling/cycle/scheduler.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {

Scheduler::Scheduler(Sim sim, ClusterState& cluster, JobTable& jobs, JobController& controller,
                     const ProfileParams& profile, bool record_attempts,
                     const Fragmentation* fragmentation)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      controller_{controller},
      parts_{sim, cluster, jobs, controller, profile, record_attempts, fragmentation},
      gang_cycle_{parts_.context, counters_} {
  parts_.preemptions.use(gang_cycle_);
  wire();
}

void Scheduler::kick() {
  if (is_running_ || parts_.evictions.is_awaited()) return;
  const Time now = sim_.engine.now();
  SchedulingQueue& queue = parts_.line.queue();
  Time at = std::max(now, busy_until_);
  const bool has_news = parts_.line.has_events() || asks_next_;
  if (!has_news && (parts_.line.is_blocked() || !queue.has_ready(at))) {
    at = std::max(at, queue.next_flush(now));
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
  const Time now = sim_.engine.now();
  parts_.line.queue().flush(now);
  parts_.line.deliver();
  while (busy_until_ <= now && !parts_.evictions.is_awaited()) {
    const std::optional<QueuedUnit> unit = next_unit();
    if (!unit) break;
    cycle(*unit);
    parts_.line.deliver();
  }
  is_running_ = false;
  kick();
}

void Scheduler::cycle(const QueuedUnit& unit) {
  const Time now = sim_.engine.now();
  const int64_t counts = next_factor();
  count_attempts(static_cast<uint64_t>(counts));
  PodTrack& t = parts_.tracks.of(unit.pod);
  if (!t.was_attempted) {
    t.was_attempted = true;
    t.initial_attempt = now;
    parts_.line.queue().view(unit.pod).initial_attempt = now;
  }
  parts_.binder.cycle_begins();
  const bool is_gang = parts_.line.is_gang_unit(unit.pod) ||
                       (parts_.profile.driver == Driver::PerGang && framework().places_lone_pods());
  const uint64_t visited = counters_.nodes_visited;
  const Duration cost =
      is_gang ? gang_cycle_.run(unit.pod, unit.gang, counts) : cycle_pod(unit.pod, counts);
  counters_.nodes_visited +=
      (counters_.nodes_visited - visited) * static_cast<uint64_t>(counts - 1);
  parts_.log.tried = {};
  asks_next_ = framework().has_next_pod();
  counters_.busy += cost * counts;
  busy_until_ = now + cost * counts;
  parts_.evictions.carry_out(busy_until_);
  parts_.binder.cycle_ends(now, busy_until_);
  if (finds_rounds()) rounds_.ran({mark_of_attempt(unit.pod), now, cost});
}

std::optional<QueuedUnit> Scheduler::next_unit() {
  SchedulingQueue& queue = parts_.line.queue();
  if (std::exchange(asks_next_, false)) {
    size_t passed_over = 0;
    for (PodId pod = framework().run_next_pod(); pod.is_valid(); pod = framework().run_next_pod()) {
      if (const auto unit = queue.take(pod)) return unit;
      framework().check_next_pod(++passed_over, jobs_.pods_bound());
    }
    parts_.line.deliver();  // NextPod may have rejected pods that wait in Permit
  }
  return parts_.line.is_blocked() ? std::nullopt : queue.pop(sim_.engine.now());
}

Duration Scheduler::cycle_pod(PodId pod, int64_t counts) {
  jobs_.pod(pod).attempts += counts;
  const PodView view = parts_.tracks.pod(pod);
  CycleState state = framework().new_attempt(static_cast<uint64_t>(counts));
  const Cycle cycle{sim_.engine.now(), cluster_, view, state};
  Selection found = framework().find_node(cycle, nullptr);
  counters_.nodes_visited += found.visited;
  const SchedulerCost& costs = parts_.profile.cost;
  const Duration cost =
      costs.per_cycle + costs.per_node * found.visited + framework().charge(cycle);
  if (!found.node.is_valid()) {
    std::optional<Candidates> diagnosis;
    if (parts_.failures.needs_diagnosis(cycle, found)) diagnosis = parts_.failures.diagnose(cycle);
    return cost + parts_.failures.fail(pod, cycle, found, diagnosis ? &*diagnosis : nullptr);
  }
  const DeviceGrant grant{framework().pick_devices(cycle, found.node), view.spec->gpu_milli};
  parts_.reservations.reserve(pod, found.node, grant);
  Verdict verdict = framework().run_reserve(cycle, found.node);
  if (verdict.ok()) {
    parts_.tracks.permitting = view.gang;
    verdict = framework().run_permit(cycle, found.node);
    parts_.tracks.permitting = {};
  } else {
    ORRERY_MARK("scheduling.reserve_refused");
  }
  if (verdict.code == Code::Wait) {
    parts_.reservations.wait(pod, verdict.plugins, verdict.timeout * counts);
    parts_.log.write(pod, AttemptOutcome::Waiting, found, "waiting for the rest of the gang");
  } else if (verdict.ok()) {
    parts_.binder.add(pod);
    parts_.log.write(pod, AttemptOutcome::Scheduled, found, {});
  } else {
    parts_.reservations.undo(pod, {}, std::nullopt);
    found.code = verdict.code;
    found.reason = verdict.reason;
    found.plugins = verdict.plugins;
    parts_.failures.reject(pod, cycle.now, found);
  }
  return cost + costs.per_pod;
}

// ---- rounds of futile attempts

void Scheduler::count_attempts(uint64_t counts) {
  counters_.attempts += counts;
  const uint64_t before = attempts_in_vain_;
  attempts_in_vain_ += counts;
  if (attempts_in_vain_ / kVainAttempts != before / kVainAttempts) tried_in_vain.emit();
}

void Scheduler::compress_rounds(Time end, bool may_be_stopped) {
  if (parts_.log.is_on()) return;
  compresses_until_ = end;
  may_be_stopped_ = may_be_stopped;
}

int64_t Scheduler::next_factor() {
  if (!finds_rounds()) return 1;
  if (!rounds_.is_due()) return rounds_.factor();
  const Time now = sim_.engine.now();
  SchedulingQueue& queue = parts_.line.queue();
  rounds_.begin(
      now, {.next_event = has_clock_of_its_own(now)
                              ? now
                              : std::min({sim_.engine.next_time(), compresses_until_,
                                          queue.next_flush_of_idle(rounds_.last_began())}),
            // If a slow round were longer than a backoff, the backoff might end in the middle of
            // the round and change the order of the units. By now all backoffs have grown to
            // max_backoff. But they end at whole seconds, so they may be up to kWindow shorter.
            .length_max = queue.params().max_backoff - SchedulingQueue::kWindow,
            .attempts_max = may_be_stopped_ ? kVainAttempts - 1 - attempts_in_vain_ % kVainAttempts
                                            : UINT64_MAX});
  return rounds_.factor();
}

// True if time alone may change the result of an attempt: a pending gang backs off or has
// min_resources. A successful check of min_resources by Coscheduling holds only for some time.
bool Scheduler::has_clock_of_its_own(Time now) {
  const std::span<const GangTrack> gangs = parts_.tracks.gangs();
  for (uint32_t g = 0; g < gangs.size(); ++g) {
    if (gangs[g].pending == 0) continue;
    if (gangs[g].backoff_until > now || jobs_.gang({g}).min_resources) return true;
  }
  return false;
}

// A hash of an attempt's effects and of the scheduler's state after the attempt. Attempts with
// equal marks count as equal.
uint64_t Scheduler::mark_of_attempt(PodId unit) {
  const Placed& placed = parts_.placements.of(unit);
  const std::array<uint64_t, 9> parts{
      unit.index,
      placed.node.is_valid() ? uint64_t{placed.node.index} + 1 : 0,
      placed.node.is_valid() ? uint64_t{placed.grant.gpus} : 0,
      static_cast<uint64_t>(parts_.tracks.stage(unit)),
      parts_.tracks.pods_waiting,
      parts_.line.queue().active(),
      parts_.line.queue().size(),
      parts_.evictions.victims(),  // grows, so marks of attempts that evict are never equal
      framework().next_start()};
  uint64_t mark = 0;
  for (const uint64_t part : parts) mark = scattered(mark + part + 1);
  return mark;
}

}  // namespace orrery

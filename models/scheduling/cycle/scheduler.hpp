// models/scheduling/cycle/scheduler.hpp -- the scheduler's loop: takes a unit from the queue, and
// tries it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/hardware/node_news.hpp"
#include "models/scheduling/cycle/gang_cycle.hpp"
#include "models/scheduling/cycle/scheduler_parts.hpp"
#include "models/scheduling/queue/retry_rounds.hpp"

namespace orrery {

// One scheduling thread, as upstream: it tries one unit (pod or gang) after the other. The
// decisions of a cycle take effect at the start of the cycle, when upstream takes its snapshot.
// Pods are bound later, usually at the end of the cycle (see Binder). SchedulerCost gives the
// length of the cycle. All events of one instant are handled before the next cycle starts. Example:
// a cycle of 2 ms at 10.000 s reserves the node at 10.000 s. The bind request leaves at 10.002 s.
// If the node fails in between, the reservation is undone.
class Scheduler final {
 public:
  using Counters = SchedulerCounters;

  Scheduler(Sim sim, ClusterState& cluster, JobTable& jobs, JobController& controller,
            const ProfileParams& profile, bool record_attempts,
            const Fragmentation* fragmentation = nullptr);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Acts like a restart of the scheduler with `profile`: reservations, nominations and eviction
  // orders are dropped, and unbound pods are requeued in order of creation. Neither the old nor the
  // new profile may have the counting driver.
  void change_profile(const ProfileParams& profile);

  // From now on, pods are bound and preempted through the API. Without an API, bindings and
  // deletions take no time.
  void use(PodApi& api) { parts_.use(api); }
  void read_nic_errors(PolicyServices::NicErrorsNow nic_errors) {
    parts_.services.read_nic_errors(std::move(nic_errors));
  }
  // From now on, one slow round replaces many equal rounds of futile attempts (see RetryRounds).
  // `end`: end of the run. `may_be_stopped`: the run may also end when `tried_in_vain` is emitted.
  // No effect if attempts are logged, or with the per_gang driver.
  void compress_rounds(Time end, bool may_be_stopped);
  // Forgets the round that repeats. Must be called when a deadlock begins or ends. The times of
  // deadlocks must be exact, so a round in which a deadlock begins or ends is not compressed.
  void round_interrupted() { rounds_.interrupted(); }
  void connect(NodeNews& news);
  void node_changed(NodeId node);  // the node's taints or cordon changed

  static constexpr uint64_t kVainAttempts = 4096;
  // Emitted whenever another kVainAttempts attempts pass without a pod being bound or created.
  Signal<> tried_in_vain;

  const Counters& counters() const { return counters_; }
  const Placements& placements() const { return parts_.placements; }
  PodView view(PodId pod) const { return parts_.tracks.pod(pod); }
  uint64_t attempts_in_vain() const { return attempts_in_vain_; }
  uint64_t pods_preempted() const { return parts_.evictions.victims(); }
  bool is_preempting() const { return parts_.evictions.is_under_way(); }
  // Pods that are created and not bound, and gangs that have such pods.
  size_t pods_pending() const { return parts_.tracks.pods_pending(); }
  size_t gangs_pending() const { return parts_.tracks.gangs_pending(); }
  size_t pods_waiting_in_permit() const { return parts_.tracks.pods_waiting; }
  size_t pods_binding() const { return parts_.reservations.pods() - pods_waiting_in_permit(); }
  uint64_t progress() const { return counters_.pods_scheduled; }
  // Calls f(pod, whether it has a reservation) for each unbound pod of the unit. A unit is named by
  // its first pod, as in the signal `no_node_found`.
  template <class F>
  void for_each_unbound(PodId unit, F&& f) const {
    const auto look = [&](PodId pod) {
      const PodStage stage = parts_.tracks.stage(pod);
      if (stage != PodStage::None && stage != PodStage::Bound) f(pod, stage != PodStage::Queued);
    };
    if (!parts_.line.is_gang_unit(unit)) return look(unit);
    const Gang& gang = jobs_.gang(jobs_.pod(unit).gang);
    JobTable::for_each_pod(gang.first, gang.pods, look);
  }
  int64_t reserved_gpu_milli() const { return parts_.reservations.gpu_milli(); }

 private:
  // ---- scheduler.cpp: the loop
  void kick();
  void run();
  void cycle(const QueuedUnit& unit);
  std::optional<QueuedUnit> next_unit();
  Duration cycle_pod(PodId pod, int64_t counts);
  void count_attempts(uint64_t counts);
  bool finds_rounds() const {
    return compresses_until_ > Time{} && parts_.profile.driver != Driver::PerGang;
  }
  int64_t next_factor();
  bool has_clock_of_its_own(Time now);
  uint64_t mark_of_attempt(PodId unit);
  Framework& framework() { return *parts_.profile.framework; }

  // ---- scheduler_events.cpp: events of jobs, pods and nodes
  void wire();
  void pods_created(std::span<const PodId> pods);
  void pod_removed(PodId pod);
  void end_observed(PodId pod);
  void job_over(JobId job);
  void node_down(NodeId node);  // called after the controller has handled the failure
  void node_up(NodeId node);
  void made_room(PodId preemptor);
  void take_in_all();
  void post_and_kick(const ClusterEvent& event);

  Sim sim_;
  const ClusterState& cluster_;
  JobTable& jobs_;
  JobController& controller_;
  Counters counters_;
  SchedulerParts parts_;
  GangCycle gang_cycle_;
  EventId wake_;
  Time wake_at_ = Time::max();
  Time busy_until_;
  bool is_running_ = false;
  bool asks_next_ = false;  // whether to call NextPod before the next cycle
  uint64_t attempts_in_vain_ = 0;
  RetryRounds rounds_;
  Time compresses_until_;  // rounds are compressed until this time; zero: never
  bool may_be_stopped_ = false;
};

}  // namespace orrery

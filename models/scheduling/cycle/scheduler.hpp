// models/scheduling/cycle/scheduler.hpp -- the scheduler's loop over units.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/hardware/node_news.hpp"
#include "models/scheduling/cycle/gang_cycle.hpp"
#include "models/scheduling/cycle/scheduler_parts.hpp"
#include "models/scheduling/queue/retry_rounds.hpp"

namespace orrery {

// One scheduling thread, as upstream: one unit (pod or gang) at a time. The decisions of a cycle
// take effect at its start, when upstream takes its snapshot. Its pods are bound at its end.
// SchedulerCost gives the length of the cycle. All events of one instant are handled before the
// next cycle starts. Example: a cycle of 2 ms at 10.000 s reserves the node at 10.000 s, and the
// bind request leaves at 10.002 s; a node that fails in between undoes it.
class Scheduler final {
 public:
  using Counters = SchedulerCounters;

  Scheduler(Sim sim, ClusterState& cluster, JobTable& jobs, JobController& controller,
            const ProfileParams& profile, bool record_attempts,
            const Fragmentation* fragmentation = nullptr);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Like a restart with another configuration: reservations, nominations and eviction orders are
  // dropped, and pods without a binding are requeued in order of creation. Neither profile may have
  // the counting driver.
  void change_profile(const ProfileParams& profile);

  // Pods are bound and preempted through the API; without one, at once.
  void use(PodApi& api) { parts_.use(api); }
  void read_nic_errors(PolicyServices::NicErrorsNow nic_errors) {
    parts_.services.read_nic_errors(std::move(nic_errors));
  }
  // Executes rounds of futile attempts that repeat exactly as one long round (RetryRounds). The run
  // ends at `end`; with `may_be_stopped` it may end at any `tried_in_vain`. Has no effect with an
  // attempt log.
  void compress_rounds(Time end, bool may_be_stopped);
  // Called at a change whose time must stay exact: forgets the present round.
  void round_interrupted() { rounds_.interrupted(); }
  void connect(NodeNews& news);
  void node_changed(NodeId node);  // taints, labels, cordon

  static constexpr uint64_t kVainAttempts = 4096;
  Signal<> tried_in_vain;  // at every kVainAttempts-th attempt since a pod was bound or created

  const Counters& counters() const { return counters_; }
  const Placements& placements() const { return parts_.placements; }
  PodView view(PodId pod) const { return parts_.tracks.pod(pod); }
  uint64_t attempts_in_vain() const { return attempts_in_vain_; }
  uint64_t pods_preempted() const { return parts_.evictions.victims(); }
  bool is_preempting() const { return parts_.evictions.is_under_way(); }
  size_t pods_pending() const { return parts_.tracks.pods_pending(); }    // created and not bound
  size_t gangs_pending() const { return parts_.tracks.gangs_pending(); }  // gangs with such pods
  size_t pods_waiting_in_permit() const { return parts_.tracks.pods_waiting; }
  size_t pods_binding() const { return parts_.reservations.pods() - pods_waiting_in_permit(); }
  uint64_t progress() const { return counters_.pods_scheduled; }
  // Calls f(pod, has a reservation) for the unbound pods of a unit that `no_node_found` named.
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
  void node_down(NodeId node);  // after the controller handled it: undoes reservations there
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
  bool asks_next_ = false;  // NextPod was not called since the last cycle
  uint64_t attempts_in_vain_ = 0;
  RetryRounds rounds_;
  Time compresses_until_;  // zero: never
  bool may_be_stopped_ = false;
};

}  // namespace orrery

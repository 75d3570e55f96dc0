// models/scheduling/cycle/scheduler.hpp -- the scheduler's loop: queues, cycles, Permit, binding.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/cycle/attempt_log.hpp"
#include "models/scheduling/cycle/preemptions.hpp"
#include "models/scheduling/cycle/scheduling_queue.hpp"
#include "models/scheduling/cycle/transaction.hpp"
#include "models/scheduling/framework/framework.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/engine/signal.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// One scheduling thread, as upstream: one unit (pod or gang) at a time. Decisions of a cycle take
// effect at its start, as the snapshot does; its pods are bound at its end. The cycle's length is
// charged by SchedulerCost. News of one instant is taken in before the next cycle starts.
class Scheduler final : private Handle {
 public:
  struct Counters {
    uint64_t attempts = 0;  // cycles, of pods or gangs
    uint64_t pods_scheduled = 0;
    uint64_t permit_timeouts = 0;
    uint64_t nodes_visited = 0;
    Duration busy;  // scheduler time charged
  };

  Scheduler(Sim sim, ClusterState& cluster, JobTable& jobs, JobController& controller,
            const ProfileParams& profile, bool record_attempts,
            const Fragmentation* fragmentation = nullptr);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // As a scheduler that is restarted with another configuration: what is not bound yet is decided
  // anew, in the order in which it was created. Neither profile may have the counting driver.
  void change_profile(const ProfileParams& profile);

  void use(PodApi& api) {  // pods are bound and preempted through it; else at once
    api_ = &api;
    preemptions_.use(api);
  }
  // Counters that policies may read; without links there are none.
  using NicErrorsNow = std::function<std::vector<NicErrors>(Time now)>;
  void read_nic_errors(NicErrorsNow nic_errors) { nic_errors_ = std::move(nic_errors); }
  // News the wiring passes on.
  void node_down(NodeId node);  // after the controller was told: reservations there are undone
  void node_up(NodeId node);
  void node_changed(NodeId node);  // taints, labels, cordon

  Signal<PodId, NodeId> pod_assigned;    // reserved for the pod: waiting in Permit, binding, bound
  Signal<PodId, NodeId> pod_unassigned;  // any of these undone, or a bound pod that left
  // For a pod, or for a gang placed as a whole: its first. Also one that was turned away though
  // there was a node for it, since the rest of its gang has none.
  Signal<PodId> no_node_found;

  Signal<> tried_in_vain;  // at every kVainAttempts-th attempt since a pod was bound or created
  static constexpr uint64_t kVainAttempts = 4096;

  const Counters& counters() const { return counters_; }
  uint64_t attempts_in_vain() const { return attempts_in_vain_; }
  uint64_t pods_preempted() const { return preemptions_.victims(); }
  bool is_preempting() const { return preemptions_.is_under_way(); }
  size_t pods_pending() const { return pending_pods_; }    // created and not bound
  size_t gangs_pending() const { return pending_gangs_; }  // gangs with such pods
  size_t pods_waiting_in_permit() const { return waiting_; }
  uint64_t progress() const { return counters_.pods_scheduled; }
  // The pods of what `no_node_found` named that are not bound, and whether one has a node reserved.
  template <class F>
  void for_each_unbound(PodId unit, F&& f) const {
    const auto look = [&](PodId pod) {
      const Stage stage = pod.index < pods_.size() ? pods_[pod.index].stage : Stage::None;
      if (stage != Stage::None && stage != Stage::Bound) f(pod, stage != Stage::Queued);
    };
    if (!is_gang_unit(unit)) return look(unit);
    const Gang& gang = jobs_.gang(jobs_.pod(unit).gang);
    JobTable::for_each_pod(gang.first, gang.pods, look);
  }
  int64_t reserved_gpu_milli() const;  // of pods assumed and not yet bound

 private:
  enum class Stage : uint8_t { None, Queued, Waiting, Binding, Bound };
  struct PodTrack {
    Stage stage = Stage::None;
    NodeId node;
    DeviceGrant grant;
    uint32_t waits_for = 0;  // bit set of Permit plugins that said Wait
    EventId timeout;
    uint64_t reservation = 0;   // number of the latest one, so that undone ones are not bound
    uint32_t assumed_slot = 0;  // place in assumed_
    bool was_attempted = false;
    Time initial_attempt;
  };
  struct GangTrack {
    JobId job;
    std::vector<PodId> waiting;  // in Permit, in order
    int32_t tentative = 0;       // placed in the transaction of the gang's own cycle
    int32_t assumed = 0;         // waiting or binding
    int32_t gated = 0;
    int32_t pending = 0;  // created and not bound
    Time last_failure = Time{-1}, backoff_until;
    Time initial_attempt = Time{-1};
  };
  struct Permitted {
    PodId pod;
    Duration after;  // since the cycle began; max: once it is over
  };
  struct Binding {
    Time due;
    PodId pod;
    uint64_t reservation;
  };

  // ---- Handle: what policies may see and ask
  Time now() const override { return sim_.engine.now(); }
  const ClusterState& cluster() const override { return cluster_; }
  const SpecTable& specs() const override { return jobs_.specs(); }
  PodView pod(PodId pod) const override;
  GangView gang(GangId gang) const override;
  Rng rng(std::string_view stream) const override { return sim_.rng.stream(stream); }
  void allow_waiting(PodId pod) override;
  void reject_waiting(PodId pod, std::string_view reason) override;
  std::span<const PodId> waiting_pods(GangId gang) const override;
  void activate_siblings(PodId id) override;
  void set_gang_failure(GangId gang, Time failed_at, Time backoff_until) override;
  const Fragmentation* fragmentation() const override { return fragmentation_; }
  std::vector<NicErrors> nic_errors() const override {
    return nic_errors_ ? nic_errors_(now()) : std::vector<NicErrors>{};
  }

  Preemption* preemption() override { return driver_ == Driver::PerPod ? &preemptions_ : nullptr; }

  // ---- scheduler_profile.cpp: what the profile decides
  SchedulingQueue make_queue(const QueueParams& params);
  void give_up_reservations();
  void take_in_all();

  // ---- scheduler_events.cpp: news from below
  void pods_created(std::span<const PodId> pods);
  void pod_removed(PodId pod);
  void job_over(JobId job);
  void enqueue(PodId pod);
  void post(const ClusterEvent& event);
  void deliver_events();
  void retry_gated();

  // ---- scheduler.cpp: the loop and the life of one pod in it
  void kick();
  void run();
  std::optional<QueuedUnit> next_unit();
  // Nothing passes the head of the queue, unless it comes to stand before it.
  bool is_blocked() { return is_blocked_ && queue_.front() == blocking_; }
  Duration cycle_pod(PodId pod);
  Duration fail(PodId unit, PodId pod, const Selection& why, const NodeSet* domain);
  Duration post_filter(const PodView& view, const Diagnosis& diagnosis);
  void back_to_queue(PodId unit, PodId pod, const Selection& why);
  void wire_preemptions();
  void assume(PodId pod, NodeId node, DeviceGrant grant);
  void unassume(PodId pod, std::string_view reason, std::optional<AttemptOutcome> outcome);
  void turn_away(PodId waiting, std::string_view reason, AttemptOutcome outcome);
  void requeue(PodId pod, uint32_t plugins);
  void tell_failure(PodId unit);
  bool reserve(const PodView& view, NodeId node, Selection& why);
  bool permit(const PodView& view, NodeId node, Selection& why);
  PermitStatus ask_permit(const Bound<Permit>& plugin, const Cycle& cycle, NodeId node);
  void start_waiting(PodId pod, uint32_t plugins, Duration timeout);
  void stop_waiting(PodId pod);
  void record(PodId pod, AttemptOutcome outcome, const Selection& why, std::string_view text);
  void record(uint64_t attempt, PodId pod, AttemptOutcome outcome, const Selection& why,
              std::string_view text);

  // ---- scheduler_binding.cpp: what the scheduler decided is written
  void to_binding(PodId pod, Duration after = Duration::max());
  void bind_due();
  void bind(PodId pod);
  void bind_failed(PodId pod, std::string_view reason);
  void bound(PodId pod);

  // ---- gang_cycle.cpp: the per_gang driver
  Duration cycle_gang(PodId unit, GangId gang);
  struct Placed {
    PodId pod;
    NodeId node;
    DeviceGrant grant;
  };
  struct GangAttempt {
    std::vector<Placed> placed;
    Selection why;  // of the first member without a node
    PodId failed;   // that member
    uint32_t visited = 0;
    Duration charged;  // by plugins, once for alike members
  };
  struct GangVerdict {
    Duration cost;
    bool fits = false;
  };
  struct Tried {  // by the running cycle: columns of an AttemptRow
    int32_t pods = 1, placeable = -1;
    uint32_t domains = 1, victims = 0;
  };
  GangVerdict attempt_gang(const Cycle& cycle, const GangView& gang);
  void try_domain(GangId gang, const NodeSet* domain);  // null: all nodes
  void undo_attempt(GangId gang, Transaction::Point mark);
  int64_t score_of_attempt(const Cycle& cycle, const GangView& gang);
  bool gang_permitted(GangAttempt& attempt);
  Duration place_best_attempt(PodId unit, GangId gang, Duration spent);
  bool keep(const Placed& placed);

  PodId unit_of(PodId pod) const;
  QueuedUnit queued_unit(PodId pod) const;
  PodTrack& track(PodId pod);
  GangTrack& track(GangId gang);
  bool is_gang_unit(PodId pod) const {
    return driver_ == Driver::PerGang && jobs_.pod(pod).gang.is_valid();
  }

  Sim sim_;
  ClusterState& cluster_;
  JobTable& jobs_;
  JobController& controller_;
  Driver driver_;
  HeadOfLine head_of_line_;
  SchedulerCost cost_;
  const Fragmentation* fragmentation_;
  NicErrorsNow nic_errors_;
  PodApi* api_ = nullptr;
  std::unique_ptr<Framework> framework_;
  SchedulingQueue queue_;
  Transaction transaction_;
  Preemptions preemptions_;
  const Candidates no_candidates_;  // for those who do not read them
  std::vector<PodTrack> pods_;
  std::vector<GangTrack> gangs_;
  std::vector<PodId> assumed_;  // waiting or binding, in no particular order
  std::deque<Binding> binding_;
  EventId bind_event_;
  std::vector<ClusterEvent> events_;
  EventId wake_;
  Time wake_at_ = Time::max();
  Time busy_until_;
  Time cycle_end_;                  // of the running cycle: when its pods go on to be bound
  std::vector<Permitted> to_bind_;  // in the running cycle
  uint32_t current_plugin_ = 0;
  GangId permitting_;  // its member is in Permit right now and does not count itself
  bool is_running_ = false;
  bool is_blocked_ = false;  // a head of the queue waits for an event
  PodId blocking_;           // that head
  bool asks_next_ = false;   // NextPod has not spoken since the last cycle
  uint64_t last_reservation_ = 0, attempts_in_vain_ = 0;
  size_t pending_pods_ = 0, pending_gangs_ = 0, waiting_ = 0;
  Counters counters_;
  std::vector<PodId> members_;
  std::vector<GangDomain> domains_;
  GangAttempt attempt_, best_attempt_;
  AttemptLog attempt_log_;
  Tried tried_;
};

}  // namespace orrery

// models/scheduling/cycle/unit_line.hpp -- the scheduling queue, the events that move its units,
// and head-of-line blocking.
#pragma once

#include <optional>
#include <vector>

#include "models/scheduling/cycle/active_profile.hpp"
#include "models/scheduling/cycle/pod_tracks.hpp"
#include "models/scheduling/queue/scheduling_queue.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// A unit is a pod or, with the per_gang driver, a gang. The id of a gang unit is that of the gang's
// first pod.
class UnitLine {
 public:
  UnitLine(const Engine& engine, JobTable& jobs, PodTracks& tracks, const ActiveProfile& profile,
           const QueueParams& params);

  PodId unit_of(PodId pod) const;
  bool is_gang_unit(PodId pod) const {
    return profile_.driver == Driver::PerGang && jobs_.pod(pod).gang.is_valid();
  }
  SchedulingQueue& queue() { return queue_; }
  void start_over(const QueueParams& params);  // empties the queue, for another profile

  // Runs PreEnqueue, then puts the pod's unit into the active queue or gates it. Does nothing if
  // the unit is queued already and not gated.
  void enqueue(PodId pod);
  // Removes the pod. Its unit stays in the queue while other pods of the gang are pending.
  void leave(PodId pod);
  // Requeues the pod's unit after the pod lost its reservation. Does nothing if another member has
  // queued the unit already.
  void requeue(PodId pod, uint32_t plugins);
  // Moves the other unscheduled pods of the pod's gang straight to the active queue.
  void activate_siblings(PodId pod);
  // Call when a policy has set the time of the gang's last failure to an earlier time. The gang's
  // units may then move forward in the queue.
  void gang_recovered(GangId gang);

  // ---- events that may make units schedulable
  void post(const ClusterEvent& event);
  bool has_events() const { return !events_.empty(); }
  void deliver();

  // ---- head_of_line: block
  void block(PodId unit);
  void unblock() { is_blocked_ = false; }
  // True if a unit blocks the queue and no unit sorts before the blocking unit. While it is true,
  // no unit is popped. A new unit that sorts before the blocking unit makes it false, and is tried.
  bool is_blocked() { return is_blocked_ && queue_.front() == blocking_; }

 private:
  SchedulingQueue make_queue(const QueueParams& params);
  QueuedUnit queued_unit(PodId pod);
  PodId own_unit(const ClusterEvent& event) const;
  void retry_gated();

  const Engine& engine_;
  JobTable& jobs_;
  PodTracks& tracks_;
  const ActiveProfile& profile_;
  SchedulingQueue queue_;
  std::vector<ClusterEvent> events_;
  bool is_blocked_ = false;
  PodId blocking_;
};

}  // namespace orrery

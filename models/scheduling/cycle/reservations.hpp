// models/scheduling/cycle/reservations.hpp -- pods that have a node reserved and are not bound yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/scheduling/cycle/attempt_log.hpp"
#include "models/scheduling/cycle/evictions.hpp"
#include "models/scheduling/cycle/preemptions.hpp"
#include "models/scheduling/cycle/scheduler_context.hpp"
#include "models/scheduling/cycle/unit_line.hpp"

namespace orrery {

// As upstream's assumed pods: a pod waits in Permit or is being bound, until it is bound or its
// reservation is undone.
class Reservations {
 public:
  explicit Reservations(const SchedulerContext& context) : context_{context} {}
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;
  void use(PodApi& api) { api_ = &api; }

  void reserve(PodId pod, NodeId node, DeviceGrant grant);
  // Unreserve of every plugin in reverse order, then the resources are free, as upstream. With an
  // outcome, the attempt log gets a row. The caller decides whether the pod queues again.
  void undo(PodId pod, std::string_view reason, std::optional<AttemptOutcome> outcome);
  void bound(PodId pod);  // the reservation has become a binding
  // Reservations on the node are undone; their pods go back to the queue.
  void node_failed(NodeId node);
  void undo_all(std::string_view reason);

  // ---- Permit
  void wait(PodId pod, uint32_t plugins, Duration timeout);
  void allow(PodId pod, uint8_t plugin);  // emits `permitted` if no other plugin holds it
  // A pod that waits goes back to the queue; any other stays where it is.
  void reject(PodId pod, std::string_view reason, AttemptOutcome outcome);
  void reject_gang(GangId gang, std::string_view reason);
  // Back to the queue after a failure past the scheduling cycle, which is recorded.
  void requeue(PodId pod, uint32_t plugins);

  size_t pods() const { return assumed_.size(); }
  int64_t gpu_milli() const;  // of all of them

  Signal<PodId> permitted;  // a pod that waited
  Signal<> timed_out;       // after the pod went back to the queue

 private:
  void remove(PodId pod);  // from assumed_
  void stop_waiting(PodId pod);

  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
  std::vector<PodId> assumed_;  // in no particular order
  uint64_t last_reservation_ = 0;
};

}  // namespace orrery

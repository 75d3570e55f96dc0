// models/scheduling/cycle/reservations.hpp -- pods with a reserved node that are not bound yet.
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

// Upstream's assumed pods: a pod waits in Permit or is being bound, until it is bound or its
// reservation is undone.
class Reservations {
 public:
  explicit Reservations(const SchedulerContext& context) : context_{context} {}
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;
  void use(PodApi& api) { api_ = &api; }

  void reserve(PodId pod, NodeId node, DeviceGrant grant);
  // Calls Unreserve of every plugin in reverse order, then frees the resources, as upstream. With
  // an outcome, the attempt log gets a row. The caller decides whether to requeue the pod.
  void undo(PodId pod, std::string_view reason, std::optional<AttemptOutcome> outcome);
  void bound(PodId pod);  // the pod is bound
  // Undoes reservations on the node and requeues their pods.
  void node_failed(NodeId node);
  void undo_all(std::string_view reason);

  // ---- Permit
  void wait(PodId pod, uint32_t plugins, Duration timeout);
  // Lifts the hold of a plugin; emits `permitted` after the last one.
  void allow(PodId pod, uint8_t plugin);
  // Requeues a pod that waits in Permit; other pods are not affected.
  void reject(PodId pod, std::string_view reason, AttemptOutcome outcome);
  void reject_gang(GangId gang, std::string_view reason);
  // Requeues a pod after a recorded failure past the scheduling cycle.
  void requeue(PodId pod, uint32_t plugins);

  size_t pods() const { return assumed_.size(); }
  int64_t gpu_milli() const;  // sum over all reservations

  Signal<PodId> permitted;  // a waiting pod
  Signal<> timed_out;       // after the pod was requeued

 private:
  void remove(PodId pod);  // from assumed_
  void stop_waiting(PodId pod);

  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
  std::vector<PodId> assumed_;  // in no particular order
  uint64_t last_reservation_ = 0;
};

}  // namespace orrery

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

// Upstream calls a pod with a reserved node "assumed". A reservation begins when a node is chosen
// for the pod, and ends when the pod is bound or the reservation is undone. Meanwhile the pod waits
// in Permit or is being bound.
class Reservations {
 public:
  explicit Reservations(const SchedulerContext& context) : context_{context} {}
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;
  void use(PodApi& api) { api_ = &api; }

  void reserve(PodId pod, NodeId node, DeviceGrant grant);
  // Calls Unreserve of every plugin in reverse order, then frees the resources, as upstream. If
  // `outcome` is given, the attempt log gets a row. The caller decides whether to requeue the pod.
  void undo(PodId pod, std::string_view reason, std::optional<AttemptOutcome> outcome);
  void bound(PodId pod);  // ends the reservation: the pod is bound
  // Undoes the reservations on the node, and requeues their pods.
  void node_failed(NodeId node);
  void undo_all(std::string_view reason);

  // ---- Permit
  void wait(PodId pod, uint32_t plugins, Duration timeout);
  // The plugin no longer makes the pod wait. If no other plugin makes it wait, emits `permitted`.
  void allow(PodId pod, uint8_t plugin);
  // Requeues a pod that waits in Permit. The other pods of its gang keep waiting, unless a plugin
  // rejects the gang in Unreserve.
  void reject(PodId pod, std::string_view reason, AttemptOutcome outcome);
  void reject_gang(GangId gang, std::string_view reason);
  // Requeues a pod whose reservation was undone, and reports to the API that the pod could not be
  // scheduled. The caller must have logged the failure.
  void requeue(PodId pod, uint32_t plugins);

  size_t pods() const { return assumed_.size(); }
  int64_t gpu_milli() const;  // milli-GPUs of all reservations

  Signal<PodId> permitted;  // no plugin makes the pod wait any more
  Signal<> timed_out;       // a wait in Permit timed out, and the pod was requeued

 private:
  void remove(PodId pod);  // removes the pod from assumed_
  void stop_waiting(PodId pod);

  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
  std::vector<PodId> assumed_;  // in no particular order
  uint64_t last_reservation_ = 0;
};

}  // namespace orrery

// models/control_plane/base/controller_api.hpp -- API requests of the controllers in
// policy.controllers.
#pragma once

#include <cstdint>
#include <functional>

#include "models/control_plane/base/request.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// Each controller is a client of its own, with the limits of control_plane.clients.others.
class ControllerApi {
 public:
  enum class Answer : uint8_t {
    Forbidden,  // 429: a disruption budget forbids the eviction
    Failed,     // the API rejected the request, or all retries failed
    Stored,
    Observed  // the kubelet (for a pod without a node: the scheduler) has observed the deletion
  };
  using Reply = std::function<void(Answer answer)>;
  // The API server's check of the disruption budgets. If the budgets allow the eviction, the check
  // records the disruption and returns true. Called at most once, when the server's response to the
  // eviction arrives.
  using MayEvict = std::function<bool()>;

  // Sends a PATCH of a Node, of a Job, or of a ReplicaSet's scale. `reply` gets Stored or Failed.
  virtual void patch(uint32_t controller, ApiResource resource, Reply reply) = 0;
  // Sends a POST of an Eviction; if `may` is empty, a DELETE of the Pod. `reply` gets Forbidden, or
  // Failed, or first Stored and then Observed.
  virtual void delete_pod(uint32_t controller, PodId pod, MayEvict may, Reply reply) = 0;

 protected:
  ~ControllerApi() = default;
};

}  // namespace orrery

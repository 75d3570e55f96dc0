// models/control_plane/base/controller_api.hpp -- requests of policy.controllers to the API.
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
  // Stands for the API server's check of the disruption budgets: returns whether they allow the
  // eviction and, if so, records the disruption. Called at most once, when the server's response to
  // the eviction arrives.
  using MayEvict = std::function<bool()>;

  // Sends a PATCH of a Node, Job or scale. `reply` gets Stored or Failed.
  virtual void patch(uint32_t controller, ApiResource resource, Reply reply) = 0;
  // Sends a POST of an Eviction, or without `may` a DELETE of the Pod. `reply` gets Forbidden,
  // Failed, or first Stored and then Observed.
  virtual void delete_pod(uint32_t controller, PodId pod, MayEvict may, Reply reply) = 0;

 protected:
  ~ControllerApi() = default;
};

}  // namespace orrery

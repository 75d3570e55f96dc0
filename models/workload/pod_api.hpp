// models/workload/pod_api.hpp -- the way of pods through the Kubernetes API, as their controllers
// see it.
#pragma once

#include <functional>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

class PodApi {
 public:
  // Told once. False: the API refused, or was not to be reached however often it was tried.
  using Done = std::function<void(bool is_done)>;

  // Done once the scheduler has heard of the pod.
  virtual void create(PodId pod, Done done) = 0;
  // Done once the kubelet of the node has heard of it. It starts to count its start_time() then.
  virtual void bind(PodId pod, NodeId node, Done done) = 0;
  virtual Duration start_time() const = 0;
  // It was bound to the node, and is gone.
  virtual void removed(PodId pod, NodeId node) = 0;

 protected:
  ~PodApi() = default;
};

}  // namespace orrery

// models/workload/job/pod_api.hpp -- the way of pods through the Kubernetes API, as their
// controllers see it.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

class PodApi {
 public:
  // Called once. False: the API refused, or was not to be reached however often it was tried.
  using Done = std::function<void(bool is_done)>;
  // Called with Answered, whatever the first answer is; then with Known, once the scheduler has
  // observed the pod, or with Refused.
  enum class Creation : uint8_t { Answered, Known, Refused };
  using Reply = std::function<void(Creation news)>;
  // Called once. `left`: from now until the containers run.
  using Started = std::function<void(Duration left)>;
  using Observed = std::function<void()>;

  virtual void create(PodId pod, Reply reply) = 0;
  // Done once the kubelet of the node has observed the binding.
  virtual void bind(PodId pod, NodeId node, Done done) = 0;
  // Of a pod that was bound. Called, maybe before it returns, when the images are on the node and
  // how long the rest takes is known; never, if the node fails before.
  virtual void start(PodId pod, NodeId node, Started started) = 0;
  // Of a pod that is to end for the sake of another one. Replies Answered, then Known once its
  // kubelet has observed the eviction, or Refused.
  virtual void evict(PodId pod, Reply reply) = 0;
  virtual void nominated(
      PodId pod) = 0;  // where it is to go is written, and no caller waits for that
  // An attempt to schedule or bind it failed. The scheduler records that and does not wait.
  virtual void scheduling_failed(PodId pod) = 0;
  // A pod that was bound to the node is gone. Without a node: a pod that was not bound is gone, or
  // is not to be created any more. `observed` is called once the scheduler has observed the end of
  // the pod, maybe before this returns. The callback is empty for a pod without a node, and for one
  // whose node is down.
  virtual void removed(PodId pod, NodeId node, Observed observed) = 0;

 protected:
  ~PodApi() = default;
};

}  // namespace orrery

// models/workload/job/pod_api.hpp -- requests of pod controllers to the Kubernetes API.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

class PodApi {
 public:
  // Called once. `is_done` is false if the request and all its retries failed.
  using Done = std::function<void(bool is_done)>;
  // A Reply is called twice: with Answered at the first response, even an error; then with Known
  // once the scheduler has observed the pod, or with Refused once all retries have failed.
  enum class Creation : uint8_t { Answered, Known, Refused };
  using Reply = std::function<void(Creation news)>;
  // Called once. `left` is the time from now until the containers run.
  using Started = std::function<void(Duration left)>;
  using Observed = std::function<void()>;

  virtual void create(PodId pod, Reply reply) = 0;
  // Calls `done` with true once the kubelet of the node has observed the binding, or with false
  // once the request has failed.
  virtual void bind(PodId pod, NodeId node, Done done) = 0;
  // Starts a bound pod. Calls `started`, maybe before start() returns, once the images are on the
  // node and the duration of the later stages is known. If the node fails first, `started` is never
  // called.
  virtual void start(PodId pod, NodeId node, Started started) = 0;
  // Ends a pod to make room for another pod. Replies Answered, then Known or Refused. Known means
  // that the eviction was observed: by the pod's kubelet or, if the pod has no node, by the
  // scheduler.
  virtual void evict(PodId pod, Reply reply) = 0;
  // Writes the nominated node of the pod. No caller waits for the write.
  virtual void nominated(PodId pod) = 0;
  // An attempt to schedule or bind the pod failed. The scheduler records the failure and does not
  // wait.
  virtual void scheduling_failed(PodId pod) = 0;
  // The pod is gone. `node` is the node to which the pod was bound. `node` is invalid if the pod
  // was not bound, or if its creation is cancelled. `observed` is called once the scheduler has
  // observed the end of the pod, maybe before removed() returns. `observed` is empty if `node` is
  // invalid or down.
  virtual void removed(PodId pod, NodeId node, Observed observed) = 0;

 protected:
  ~PodApi() = default;
};

}  // namespace orrery

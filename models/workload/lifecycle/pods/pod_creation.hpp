// models/workload/lifecycle/pods/pod_creation.hpp -- creates the pods that jobs lack.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_api.hpp"
#include "models/workload/lifecycle/pods/pod_creation_queue.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Acts as the controllers of Kubernetes; the order of pods is described in pod_creation_queue.hpp.
// The roles of a job that name no controller form one unit: the job's controller creates their pods
// in rank order. A role that names a controller is a unit of its own.
class PodCreation {
 public:
  PodCreation(Engine& engine, JobTable& jobs, const JobControllerParams& params);

  void use(PodApi& api) { api_ = &api; }  // creates pods through the API; without an API, at once
  void admitted(JobId job);
  void want_all(JobId job);  // all Absent pods of the job
  void want(PodId pod);
  // Queues the creation of the wanted pods of the unit to which `pod` belongs. Call after want(),
  // or when `pod` is ready and the next pod of an ordered StatefulSet may follow.
  void create_wanted(PodId pod);
  // Cancels the creation of the pod. Later API responses and planned replacements have no effect.
  void forget(PodId pod);
  // A retired pod is Absent and is not created: its service has fewer replicas now, or the pod
  // ended for good.
  void set_retired(PodId pod, bool is_retired) { pods_[pod].is_retired = is_retired; }
  bool is_retired(PodId pod) const { return pods_[pod].is_retired; }
  void gone(PodId pod);  // the pod has ended and may be created again
  bool has_wanted(JobId job) const;

  Signal<PodId> appeared;                  // the pod is Pending; other pods of its batch may follow
  Signal<std::span<const PodId>> created;  // a whole batch, in order

 private:
  struct Creator {  // a worker of a controller
    uint16_t controller = 0, worker = 0;
  };
  // Pods that one controller creates together. units_ is indexed by the first role of these pods.
  struct Unit {
    int32_t wanted = 0;       // pods to be created
    int32_t create_from = 0;  // no pod before this rank is wanted
    int32_t ready_below = 0;  // for an ordered StatefulSet: all pods before this rank are ready
    bool is_queued = false;
  };
  struct PodToCreate {
    bool is_wanted = false;      // the pod is Absent and is to be created
    bool is_on_its_way = false;  // the pod is Absent and is being created
    bool is_retired = false;
  };
  RoleId unit_of(PodId pod) const { return jobs_.role(jobs_.pod(pod).role).creator; }
  int32_t creatable(RoleId unit);
  bool is_ready(PodId pod) const;
  void queue(RoleId unit);
  void plan_round();
  void create_round();
  int32_t create_batch(RoleId unit, int32_t count, Creator creator);
  void create(PodId pod, Creator creator);
  void replied(PodId pod, uint64_t generation, Creator creator, PodApi::Creation news);
  void appear(PodId pod);

  Engine& engine_;
  JobTable& jobs_;
  JobControllerParams params_;
  PodApi* api_ = nullptr;
  IdVector<RoleId, Unit> units_;
  IdVector<PodId, PodToCreate> pods_;
  std::vector<PodCreationQueue> queues_;  // by controller
  bool is_creating_ = false;              // an event for create_round() is pending
  std::vector<PodId> batch_;              // pods of the present create_batch()
};

}  // namespace orrery

// models/workload/lifecycle/pods/pod_creation.hpp -- from a pod that a job lacks to one that is
// Pending.
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

// The controllers of Kubernetes at work: see pod_creation_queue.hpp for their order. Pods of a job
// whose roles name no controller are created together, in rank order; a role that names one has its
// pods created by that, in turns with others.
class PodCreation {
 public:
  PodCreation(Engine& engine, JobTable& jobs, const JobControllerParams& params);

  void use(PodApi& api) { api_ = &api; }  // pods are created through it; else at once
  void admitted(JobId job);
  void want_all(JobId job);  // all that are Absent
  void want(PodId pod);
  // After pods are wanted, or when one is ready that the next waits for.
  void create_wanted(PodId pod);
  // It is not to be created any more, and nothing that waits for a later life of it may find it.
  void forget(PodId pod);
  // Absent, and one more than its service shall have now: it is not created.
  void set_retired(PodId pod, bool is_retired) { pods_[pod].is_retired = is_retired; }
  bool is_retired(PodId pod) const { return pods_[pod].is_retired; }
  void gone(PodId pod);  // it was there, and has not succeeded
  bool has_wanted(JobId job) const;

  Signal<PodId> appeared;                  // Pending; the others of its batch may come yet
  Signal<std::span<const PodId>> created;  // a batch, in order

 private:
  struct Creator {  // which worker of which controller
    uint16_t controller = 0, worker = 0;
  };
  struct Unit {               // pods that one controller creates, by the first of their roles
    int32_t wanted = 0;       // pods to be created
    int32_t create_from = 0;  // no pod before this rank is wanted
    int32_t ready_below = 0;  // of an ordered StatefulSet: all before this rank are
    bool is_queued = false;
  };
  struct PodToCreate {
    bool is_wanted = false;      // Absent, and to be created
    bool is_on_its_way = false;  // Absent, and being created
    bool is_retired = false;
  };
  RoleId unit_of(PodId pod) const { return jobs_.role(jobs_.pod(pod).role).creator; }
  WorkloadKind controller(RoleId unit) const;
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
  bool is_creating_ = false;              // a round is scheduled
  std::vector<PodId> batch_;              // scratch
};

}  // namespace orrery

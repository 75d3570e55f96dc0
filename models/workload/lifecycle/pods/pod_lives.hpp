// models/workload/lifecycle/pods/pod_lives.hpp -- states and resources of pods.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/pods_on_nodes.hpp"
#include "models/workload/lifecycle/pods/pod_creation.hpp"
#include "models/workload/lifecycle/pods/pod_starts.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"

namespace orrery {

// The life of a pod: wanted -> created -> bound -> started -> running -> gone. The scheduler takes
// a pod's resources when it reserves a node. Once the pod is bound, only this class gives the
// resources back for good. A what-if of the scheduler gives them back only until it is undone.
// ClusterState is the scheduler's cache: with a control plane the resources of a pod that ended are
// given back once the scheduler has observed the end.
class PodLives {
 public:
  PodLives(Sim sim, ClusterState& cluster, JobTable& jobs, const JobControllerParams& params,
           JobAccounts& accounts, PodNews& news);

  void use(PodApi& api);
  void admitted(JobId job);
  PodCreation& creation() { return creation_; }
  PodStarts& starts() { return starts_; }

  void bound(PodId pod);  // call when node and grant are in the table and taken in ClusterState
  void runs(PodId pod);   // a bound pod begins to compute
  void stops(PodId pod);  // the pod's processes end, the pod stays
  void remove(PodId pod, PodEnd why) {
    remove(pod, why, {.after = {}, .exit_code = exit_code_of(why)});
  }
  void remove(PodId pod, PodEnd why, const Ending& ending);
  void remove_all(JobId job, PodEnd why);
  // Removes the job from the table. The job's ids are recycled once the scheduler has observed the
  // ends of all its pods.
  void job_removed(JobId job);
  void collect(NodeId node, std::vector<PodId>& pods) const { on_nodes_.collect(node, pods); }

  bool has_node(PodId pod) const {
    const PodState state = jobs_.pod(pod).state;
    return state == PodState::Bound || state == PodState::Running;
  }
  struct Counts {
    int32_t bound = 0, running = 0, done = 0;  // running pods are bound, too
  };
  const Counts& counts(JobId job) const { return counts_[job]; }

  Signal<PodId, PodEnd> leaving;  // emitted while the pod still exists; its GPU time is booked

  struct Unobserved {  // pods that ended and still hold resources in the scheduler's cache
    int64_t pods = 0, gpu_milli = 0;
  };
  const Unobserved& unobserved() const { return unobserved_; }

 private:
  struct End {    // an end of a pod that the scheduler has not observed yet
    NodeId node;  // invalid: every end is observed
    DeviceGrant grant;
    uint64_t number = 0;
  };
  static int32_t exit_code_of(PodEnd why);
  PodApi::Observed report_end(PodId pod);
  void observe_end(PodId pod);

  Engine& engine_;
  ClusterState& cluster_;
  JobTable& jobs_;
  JobAccounts& accounts_;
  PodNews& news_;
  PodApi* api_ = nullptr;
  PodCreation creation_;
  PodStarts starts_;
  PodsOnNodes on_nodes_;
  IdVector<JobId, Counts> counts_;
  IdVector<PodId, End> ends_;
  IdVector<JobId, int32_t> unobserved_of_job_;
  Unobserved unobserved_;
  uint64_t last_end_ = 0;
};

}  // namespace orrery

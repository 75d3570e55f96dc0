// models/workload/lifecycle/pods/pod_lives.hpp -- pods from wanted to gone, and what they hold.
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

// wanted -> created -> bound -> started -> running -> gone. A scheduler takes a pod's resources
// when it binds it; they are given back here, and nowhere else. While the scheduler's watch is lost
// it believes that pods which end still hold their resources: these are given back once it has
// synced.
class PodLives {
 public:
  PodLives(Sim sim, ClusterState& cluster, JobTable& jobs, const JobControllerParams& params,
           JobAccounts& accounts, PodNews& news);

  void use(PodApi& api);
  void admitted(JobId job);
  PodCreation& creation() { return creation_; }
  PodStarts& starts() { return starts_; }

  void bound(PodId pod);  // node and grant are in the table, and taken
  void runs(PodId pod);   // a bound one begins to compute
  void stops(PodId pod);  // its process is gone, the pod stays
  void remove(PodId pod, PodEnd why) {
    remove(pod, why, {.after = {}, .exit_code = exit_code_of(why)});
  }
  void remove(PodId pod, PodEnd why, const Ending& ending);
  void remove_all(JobId job, PodEnd why);
  void collect(NodeId node, std::vector<PodId>& pods) const { on_nodes_.collect(node, pods); }

  bool has_node(PodId pod) const {
    const PodState state = jobs_.pod(pod).state;
    return state == PodState::Bound || state == PodState::Running;
  }
  struct Counts {
    int32_t bound = 0, running = 0, done = 0;  // those that run are bound, too
  };
  const Counts& counts(JobId job) const { return counts_[job]; }

  Signal<PodId, PodEnd> leaving;  // it is there still, and its GPUs are booked

  int64_t gpu_milli_believed_held() const;  // by pods that are gone

 private:
  struct Held {
    NodeId node;
    SpecId spec;
    ClusterState::Request request;
    DeviceGrant grant;
  };
  static int32_t exit_code_of(PodEnd why);
  void give_back(PodId pod);
  void give_back_held();

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
  std::vector<Held> held_;  // by pods that are gone, which the scheduler has not learned
};

}  // namespace orrery

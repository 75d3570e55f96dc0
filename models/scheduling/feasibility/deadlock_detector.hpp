// models/scheduling/feasibility/deadlock_detector.hpp -- finds gangs that block one another for
// ever.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hardware/node_news.hpp"
#include "models/scheduling/feasibility/candidate_rooms.hpp"
#include "models/scheduling/feasibility/changed_ids.hpp"
#include "models/scheduling/feasibility/deadlock_candidates.hpp"
#include "models/scheduling/feasibility/deadlock_log.hpp"
#include "models/scheduling/feasibility/deadlock_params.hpp"
#include "models/scheduling/feasibility/gang_holdings.hpp"
#include "models/scheduling/feasibility/infeasible_time.hpp"
#include "models/scheduling/feasibility/reduction.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/recorder.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct PodLoss {  // lost by a stuck job
  JobId job;
  uint64_t serial;
  PodId pod;
  uint64_t generation;
};

// A job is a candidate while it is Pending, holds resources (pods bound, or waiting in Permit), and
// one of its gangs or roles has fewer pods with nodes than its minimum. The gangs of a job start
// together, so they are one candidate. Any other job is assumed to end and to release all its
// resources. The reduction (reduction.hpp) runs on a cluster that only candidates use, and finds
// the stuck ones. With a policy that preempts, a job whose missing pods would fit without the
// candidates of lower priority is not stuck.
//
// A stuck job is infeasible if its missing pods would not fit even beside its own pods alone: it
// waits for capacity that does not exist. Other stuck jobs are blocked by members of their group: a
// group joins jobs with the holders of nodes that their missing pods could use. A group with a
// feasible job is a deadlock (of at least two jobs). A group of infeasible jobs alone is no
// deadlock; its GPU time is summed separately.
//
// Cost: only changes of an instant are examined, at its end. In most instants one comparison per
// candidate shows that all could complete one after another. Stuck jobs stay stuck while they lose
// no pods. So the reduction runs only when other jobs may have become stuck, when stuck ones lost
// pods, or when nodes changed.
class DeadlockDetector {
 public:
  DeadlockDetector(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                   const DeadlockParams& params);

  void connect(JobNews& jobs, PodNews& pods, NodeNews& nodes);
  void pod_assigned(PodId pod, NodeId node);  // reserved: waits in Permit, or is being bound
  void pod_unassigned(PodId pod);             // the reservation is undone, or the pod left
  void phase_changed(JobId job);
  void nodes_changed();  // taints and cordons; node failures, too, unless counts_down_nodes
  void foresee_preemption(bool may_preempt);  // whether pods may preempt others from now on
  void finish(Time end);
  Signal<> deadlocks_changed;  // a deadlock began or ended, or a job joined or left one

  uint32_t deadlocks() const { return log_.total(); }
  size_t deadlocks_present() const { return log_.present(); }
  std::vector<JobId> members_present() const;  // of all deadlocks, by id
  void add_summary(Recorder& recorder, Time end) const;

 private:
  // Input of the examination at the end of the instant.
  struct News {
    ChangedIds<PodId> pods;
    ChangedIds<JobId> jobs;
    bool must_reduce = false;  // false: stuck jobs stay stuck, and no others become stuck
    bool has_stuck_one_changed = false;
    bool is_capacity_changed = false;
  };

  void job_changed(JobId job);
  void examine();
  void refresh(JobId job);
  void take_away(PodId pod);
  void put(PodId pod);
  bool free_ones_fit();
  void reduce();
  ReductionCandidate reduction_candidate(JobId job) const;
  void take(const StuckSet& set);
  void report();
  StuckJob stuck_job(JobId job) const;
  StuckChanges changes() const;

  Sim sim_;
  const JobTable& jobs_;
  GangHoldings holdings_;
  DeadlockCandidates candidates_;
  CandidateRooms rooms_;
  News news_;
  std::vector<PodLoss> losses_;
  bool will_examine_ = false;
  bool may_preempt_ = false;
  std::vector<std::vector<JobId>> deadlocked_;  // groups of the last reduction
  std::vector<JobId> infeasible_;               // in no deadlock
  InfeasibleTime infeasible_time_;
  DeadlockLog log_;
};

}  // namespace orrery

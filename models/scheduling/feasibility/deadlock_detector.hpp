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

struct PodLoss {  // a pod that lost its node while its job was stuck
  JobId job;
  uint64_t serial;
  PodId pod;
  uint64_t generation;
};

// A job is a candidate while it is Pending, has pods with nodes (bound, or waiting in Permit), and
// one of its gangs or roles has fewer pods with nodes than its minimum. The gangs of a job start
// together, so they are one candidate. All other jobs are assumed to end and to release all their
// resources. So the reduction (see reduction.hpp) runs on a cluster that only candidates use. It
// finds the candidates that are stuck: those that do not fit even after all other candidates that
// can complete have released what they hold. If the policy preempts, a candidate fits if its
// missing pods would fit without the candidates that it may preempt.
//
// A stuck job is infeasible if its missing pods would not even fit on a cluster with no pods but
// its own: the capacity that it waits for does not exist. Two stuck jobs are in one group if they
// lack pods of the same spec, or if one holds nodes that the missing pods of the other could use. A
// stuck job that is not infeasible is blocked by jobs of its group. A group in which all jobs are
// infeasible is no deadlock, and its GPU time is summed separately. Every other group is a
// deadlock, and has at least two jobs.
//
// Cost: all changes of one instant are examined together, at the end of the instant. Usually all
// candidates that are not stuck fit right now; one comparison for each candidate shows this. Stuck
// jobs stay stuck while they lose no pods. So the reduction runs only in these cases:
// - a candidate that was not stuck does not fit right now;
// - a stuck job lost a pod, or is no candidate any more;
// - nodes changed, or foresee_preemption() was called;
// - a pod of a stuck job got a node. Exception: the job's pods are alike, and the node is eligible
//   for them.
class DeadlockDetector {
 public:
  DeadlockDetector(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                   const DeadlockParams& params);

  void connect(JobNews& jobs, PodNews& pods, NodeNews& nodes);
  void pod_assigned(PodId pod, NodeId node);  // the pod got a reservation, and is not bound yet
  void pod_unassigned(PodId pod);  // the reservation was undone, or the pod left its node
  void phase_changed(JobId job);
  void nodes_changed();  // must be called when taints, cordons or states of nodes change
  void foresee_preemption(bool may_preempt);  // whether pods may preempt other pods
  void finish(Time end);
  Signal<> deadlocks_changed;  // a deadlock began or ended, or a job joined or left one

  uint32_t deadlocks() const { return log_.total(); }
  size_t deadlocks_present() const { return log_.present(); }
  std::vector<JobId> members_present() const;  // jobs in any deadlock, by id
  void add_summary(Recorder& recorder, Time end) const;

 private:
  // What has changed since the last examination.
  struct News {
    ChangedIds<PodId> pods;
    ChangedIds<JobId> jobs;
    bool must_reduce = false;  // the standing of a stuck job may have changed
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
  // The jobs of each deadlock, according to the last reduction.
  std::vector<std::vector<JobId>> deadlocked_;
  std::vector<JobId> infeasible_;  // jobs that are stuck, but in no deadlock
  InfeasibleTime infeasible_time_;
  DeadlockLog log_;
};

}  // namespace orrery

// models/scheduling/feasibility/deadlock_detector.hpp -- finds gangs that block one another for
// ever.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/hardware/node_news.hpp"
#include "models/scheduling/feasibility/candidate_rooms.hpp"
#include "models/scheduling/feasibility/changed_ids.hpp"
#include "models/scheduling/feasibility/deadlock_candidates.hpp"
#include "models/scheduling/feasibility/deadlock_log.hpp"
#include "models/scheduling/feasibility/gang_holdings.hpp"
#include "models/scheduling/feasibility/infeasible_time.hpp"
#include "models/scheduling/feasibility/reduction.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "sim/config/options.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/recorder.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct DeadlockParams {
  static constexpr std::string_view kDoc = "What counts as a deadlock of gangs.";

  bool counts_down_nodes = true;

  template <class V>
  void fields(V& v) {
    v("counts_down_nodes", counts_down_nodes,
      "Nodes that are down count as free: gangs that only wait for a repair are not deadlocked.");
  }
};

struct PodLoss {  // by a job that was stuck
  JobId job;
  uint64_t serial;
  PodId pod;
  uint64_t generation;
};

// A job is a candidate while it is Pending, holds resources (pods bound, or waiting in Permit) and
// one of its gangs has fewer than min_available of them, or a role of it fewer than its own
// minimum; the gangs of a job start together and so stand and fall together. Everything that is no
// candidate ends some day and releases all it holds. The reduction (reduction.hpp) runs on a
// cluster that only candidates hold, and finds those that are stuck. With a policy that preempts, a
// job whose missing pods would fit without the candidates of lower priority is not stuck.
//
// A stuck job is infeasible if its missing pods would not fit even beside its own pods alone: it
// waits for capacity that does not exist. The others are held up by members. Stuck jobs are joined
// into groups by holding nodes that others of the group could use; a group with a job that is not
// infeasible is a deadlock (and has at least two jobs, infeasible ones among them); a group of
// infeasible jobs alone is no deadlock, but counted and its GPU time summed.
//
// Cost: only what changed in an instant is looked at, at its end, and in most instants one
// comparison per candidate shows that all could complete one after another. Jobs once stuck stay
// stuck as long as they lose no pods, so the reduction runs when others may have become stuck, when
// stuck ones lost pods, or when nodes changed.
class DeadlockDetector {
 public:
  DeadlockDetector(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                   const DeadlockParams& params);

  void connect(JobNews& jobs, PodNews& pods, NodeNews& nodes);
  void pod_assigned(PodId pod, NodeId node);  // reserved for it: waiting in Permit, or to be bound
  void pod_unassigned(PodId pod);             // that was undone, or the pod left
  void phase_changed(JobId job);
  void nodes_changed();  // taints, cordons; up and down, too, unless counts_down_nodes
  void foresee_preemption(bool may_preempt);  // from now on pods may preempt others, or not
  void finish(Time end);
  Signal<> deadlocks_changed;  // one began or ended, or a job joined or left it

  uint32_t deadlocks() const { return log_.total(); }
  size_t deadlocks_present() const { return log_.present(); }
  std::vector<JobId> members_present() const;  // of all deadlocks, by id
  void add_summary(Recorder& recorder, Time end) const;

 private:
  // What the examination at the end of the instant has to look at.
  struct News {
    ChangedIds<PodId> pods;
    ChangedIds<JobId> jobs;
    bool must_reduce = false;  // else jobs that are stuck stay so, and others are not
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
  std::vector<std::vector<JobId>> deadlocked_;  // groups, as of the last reduction
  std::vector<JobId> infeasible_;               // in no deadlock
  InfeasibleTime infeasible_time_;
  DeadlockLog log_;
};

}  // namespace orrery

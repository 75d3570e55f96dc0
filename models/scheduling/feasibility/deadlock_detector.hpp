// models/scheduling/feasibility/deadlock_detector.hpp -- finds gangs that block one another for
// ever.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/scheduling/feasibility/deadlock_log.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/config/options.hpp"
#include "sim/core/int128.hpp"
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

// A job is a candidate while it is Pending, holds resources (pods bound, or waiting in Permit) and
// one of its gangs has fewer than min_available of them; the gangs of a job start together and so
// stand and fall together. Everything that is no candidate ends some day and releases all it holds.
// Reduction, as in the banker's algorithm: on a cluster that only candidates hold, repeatedly let a
// candidate whose missing pods fit complete and release what it holds. Those that remain are stuck.
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

  // News the wiring passes on.
  void pod_assigned(PodId pod, NodeId node);  // reserved for it: waiting in Permit, or to be bound
  void pod_unassigned(PodId pod);             // that was undone, or the pod left
  void phase_changed(JobId job);
  void nodes_changed();  // taints, cordons; up and down, too, unless counts_down_nodes
  void finish(Time end);

  uint32_t deadlocks() const { return log_.total(); }
  size_t deadlocks_present() const { return log_.present(); }
  std::vector<JobId> members_present() const;  // of all deadlocks, by id
  void add_summary(Recorder& recorder, Time end) const;

 private:
  enum class Standing : uint8_t { Free, Deadlocked, Infeasible };
  struct Holding {  // by pod
    NodeId node;    // invalid: none
    SpecId spec;
    JobId job;
    GangId gang;
    NodeId room_node;  // where the pod was put in the RoomTable; invalid: nowhere
    SpecId room_spec;
    GpuMask room_gpus = 0;
    bool is_changed = false;
  };
  struct GangHolding {
    int32_t assigned = 0;
    int64_t gpu_milli = 0;
  };
  struct Unit {  // by job
    uint64_t serial = UINT64_MAX;
    int32_t held = 0;              // pods
    int32_t incomplete_gangs = 0;  // with fewer than min_available pods
    bool is_alike = false;         // all pods have one spec
    bool is_candidate = false;
    bool is_changed = false;
    bool is_infeasible = false;
    Standing standing = Standing::Free;
    std::vector<PodNeed> needs = {};  // of a candidate: pods missing to complete
  };
  struct Loss {
    JobId job;
    uint64_t serial;
    PodId pod;
    uint64_t generation;
  };

  Unit& begin_unit(JobId job);
  void change(PodId pod);
  void change(JobId job);
  void examine();
  void refresh(JobId job);
  void refresh_needs(JobId job);
  void take_away(PodId pod);
  void put(PodId pod);
  bool free_ones_fit();
  void reduce();
  std::vector<JobId> stuck_jobs(std::vector<JobId>& released);
  std::vector<bool> infeasible(std::span<const JobId> stuck);
  std::vector<std::vector<size_t>> groups(std::span<const JobId> stuck);
  void report();
  DeadlockLog::StuckJob stuck_job(JobId job) const;
  DeadlockLog::Changes changes() const;
  void release(JobId job);  // from the room table, until retake()
  void retake(JobId job);
  bool holds_any_of(JobId job, const NodeSet& nodes) const;
  template <class F>
  void for_each_in_room(JobId job, F&& f) const {
    const Job& j = jobs_.job(job);
    JobTable::for_each_pod(j.first_pod, j.pods, [&](PodId pod) {
      if (pod.index < holdings_.size() && holdings_[pod.index].room_node.is_valid()) {
        f(holdings_[pod.index]);
      }
    });
  }

  Sim sim_;
  const JobTable& jobs_;
  RoomTable rooms_;
  DeadlockLog log_;
  std::vector<Holding> holdings_;
  std::vector<GangHolding> gangs_;
  std::vector<Unit> units_;
  std::vector<JobId> candidates_;  // by serial
  std::vector<PodId> changed_pods_;
  std::vector<JobId> changed_jobs_;
  std::vector<Loss> losses_;
  std::vector<std::vector<JobId>> deadlocked_;  // groups, as of the last reduction
  std::vector<JobId> infeasible_;               // in no deadlock
  bool is_scheduled_ = false;
  bool must_reduce_ = false;  // else jobs that are stuck stay so, and others are not
  bool has_stuck_one_changed_ = false;
  bool is_capacity_changed_ = false;
  uint64_t infeasible_jobs_ = 0;
  int64_t infeasible_milli_ = 0;  // held by infeasible_
  int128_t infeasible_time_ = 0;  // milli-GPUs times nanoseconds, up to infeasible_since_
  Time infeasible_since_;
};

}  // namespace orrery

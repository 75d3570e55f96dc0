// models/scheduling/contract/job_policy_api.hpp -- the extension points of the job queue: the order
// of jobs, and which jobs start now.
//
// Whole jobs pass these points before any of their pods exists. QueueOrder ranks the waiting jobs,
// and Admit may hold a job back. Plan decides which jobs start now, and which waiting jobs get a
// reservation. For these points the cluster is one pool: the size of a job and the free capacity
// are amounts of one resource, summed over all nodes. Whether the pods of a job fit on single nodes
// is decided later, by the scheduler. A policy's constructor takes a JobBoard and the policy's
// parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/resources.hpp"
#include "models/scheduling/contract/counted.hpp"
#include "models/scheduling/contract/job_tree.hpp"
#include "models/scheduling/contract/policy.hpp"
#include "models/scheduling/contract/queued_job.hpp"
#include "sim/core/id.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// All nodes with the same GPU model. A job runs at the same pace on each of them.
struct PoolPart {
  std::string model;  // GPU model; empty: nodes without GPUs
  int64_t count = 0;  // amount of the counted resource on nodes that are up
};

// The job queue as a policy sees it. A policy may start, stop or cancel jobs, or set their pace,
// only in Plan::plan().
class ORRERY_API JobBoard {
 public:
  virtual ~JobBoard() = default;
  virtual Time now() const = 0;
  virtual uint64_t seed() const = 0;
  virtual Rng rng(std::string_view stream) const = 0;
  virtual const ClusterState& cluster() const = 0;
  virtual const QueuedJob& job(JobSlot job) const = 0;
  virtual std::string_view user_name(uint32_t user) const = 0;
  virtual std::string_view team_name(uint32_t team) const = 0;
  virtual std::string_view application_name(uint32_t application) const = 0;
  // Whether a job of this user, team or application has arrived.
  virtual bool has_user(const std::string& name) const = 0;
  virtual bool has_team(const std::string& name) const = 0;
  virtual bool has_application(const std::string& name) const = 0;
  virtual int64_t capacity() const = 0;  // amount of the counted resource on nodes that are up
  // 1000 if the counted resource is GPUs or CPUs, whose amounts are in thousandths; else 1.
  virtual int64_t unit() const = 0;
  // Free amount of the counted resource; may be below 0 while nodes are down.
  virtual int64_t free() const = 0;
  virtual const Resources& capacities() const = 0;
  virtual const Resources& used() const = 0;
  // Resources that the job queue counts; fits() checks them all. The first is "the counted
  // resource": capacity(), unit(), free() and JobAsk::count are amounts of it.
  virtual std::span<const Counted> counts() const = 0;
  virtual std::span<const PoolPart> parts() const = 0;  // in order of their first node
  // Whether all counted resources that the job requests are free now.
  virtual bool fits(const QueuedJob& job) const = 0;
  virtual const JobTree& waiting() const = 0;  // in queue order
  virtual const JobTree& running() const = 0;  // sorted by expected end; includes stopping jobs
  // The first waiting job that every Admit accepts. Jobs before it in the queue become held.
  virtual JobSlot head() = 0;
  virtual bool start(JobSlot job) = 0;  // false: an Admit rejected the job, which is now held
  // start_on() may be called only if chooses_nodes() is true, that is, if jobs have pods and a
  // plugin heeds chosen nodes. start_on() starts the job, and restricts the job's pods to `nodes`
  // until the job stops or ends.
  virtual bool chooses_nodes() const = 0;
  virtual bool start_on(JobSlot job, const NodeSet& nodes) = 0;
  // Time before the job computes if it starts now, such as the restore of its checkpoint.
  virtual Duration setup(JobSlot job) const = 0;
  // Cancels the job, as its user could. False: the job has started, so it is not cancelled.
  virtual bool cancel(JobSlot job) = 0;
  // Makes a running job write a checkpoint and wait again. False: the job cannot be stopped now.
  virtual bool stop(JobSlot job) = 0;
  // set_pace() and start_beside() may be called only if has_paces() is true, that is, with the
  // counting driver. set_pace() changes the pace of a running job. start_beside() starts a waiting
  // job on the GPUs of `host`, a running job of equal size that shares its GPUs with no other job
  // yet. When one of the two leaves, the other keeps the GPUs and has full pace again.
  // start_beside() returns false if an Admit rejected the job, which is now held.
  virtual bool has_paces() const = 0;
  virtual void set_pace(JobSlot job, Pace pace) = 0;
  virtual bool start_beside(JobSlot job, JobSlot host) = 0;
  virtual void wake_at(Time when) = 0;  // makes the job queue call Plan at this time, if not before
};

struct ORRERY_API JobPoint {  // base of the points of the job queue
  virtual ~JobPoint() = default;
};

class ORRERY_API QueueOrder : public JobPoint {
 public:
  static constexpr PointName kPoint{"QueueOrder", "which waiting job is first"};
  // Jobs with lower rank go first. Jobs of equal rank are in order of submission.
  virtual int64_t rank(const QueuedJob& job) = 0;
  // How long ranks stay valid. If the ranks are at least this old when Plan::plan() is due, the job
  // queue first computes the ranks of all n waiting jobs again, in O(n log n).
  virtual Duration valid_for() const { return Duration::max(); }
};
class ORRERY_API Admit : public JobPoint {
 public:
  static constexpr PointName kPoint{"Admit", "whether a job may start"};
  // Called by JobBoard::head(), start(), start_on() and start_beside(). Returns false to hold the
  // job. A held job waits again from the next plan with PlanNews::has_room.
  virtual bool admit(const QueuedJob& job) const = 0;
};
struct PlanNews {
  std::span<const JobSlot> arrived = {};  // in queue order
  // A job ended, stopped or was cancelled, a node came or went, or wake_at() is due.
  bool has_room = false;
  bool has_longer = false;  // jobs exceeded their estimates
  bool has_only_arrivals() const { return !has_room && !has_longer; }
};
class ORRERY_API Plan : public JobPoint {
 public:
  static constexpr PointName kPoint{
      "Plan", "which jobs start now, and which waiting jobs get a reservation"};
  virtual void plan(const PlanNews& news) = 0;
  // True: plan() is also called while no job waits.
  virtual bool plans_without_waiting() const { return false; }
  // The start of the job's reservation in the last plan; max: no reservation.
  virtual Time reserved_start(JobSlot /*job*/) const { return Time::max(); }
};
class ORRERY_API JobWatcher : public JobPoint {
 public:
  static constexpr PointName kPoint{
      "JobWatcher", "notified when a job waits, starts, stops, ends or is cancelled"};
  // The job arrived, was stopped, or is no longer held.
  virtual void job_waits(const QueuedJob& /*job*/) {}
  // The job no longer waits: it starts, is held, or is cancelled.
  virtual void job_leaves(const QueuedJob& /*job*/) {}
  virtual void job_starts(const QueuedJob& /*job*/) {}
  // The expected end of the job has changed. The job still holds its resources.
  virtual void job_end_moves(const QueuedJob& /*job*/) {}
  virtual void job_stops(const QueuedJob& /*job*/) {}  // it has returned all its resources
  virtual void job_ends(const QueuedJob& /*job*/) {}   // it has returned all its resources for good
  virtual void job_cancelled(const QueuedJob& /*job*/) {}  // the job waited or was held
  virtual void node_goes(NodeId /*node*/) {}
  virtual void node_comes(NodeId /*node*/) {}
};

}  // namespace orrery

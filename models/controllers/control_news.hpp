// models/controllers/control_news.hpp -- what controllers see of a run: changes of nodes, failed
// gangs, waiting jobs and unplaced pods.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/hardware/node_news.hpp"
#include "models/scheduling/contract/control/board.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// A log that several readers follow, each at its own pace. Entries that all readers have read are
// dropped.
template <class T>
class NewsLog {
 public:
  void add(T news) { log_.push_back(std::move(news)); }
  std::span<const T> since(uint64_t cursor) const {
    return std::span{log_}.subspan(static_cast<size_t>(cursor - base_));
  }
  bool empty() const { return log_.empty(); }
  uint64_t end() const { return base_ + log_.size(); }
  void drop_before(uint64_t cursor) {
    if (cursor == base_) return;
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(cursor - base_));
    base_ = cursor;
  }

 private:
  std::vector<T> log_;
  uint64_t base_ = 0;
};

// Scheduling units (single pods or gangs, identified by their first pod) that found no node, with
// the time of their first failed attempt. add() has no effect on a unit that is in the set.
class UnplacedUnits {
 public:
  struct Unit {
    PodId first_pod;
    Time since;
  };
  void add(PodId unit, Time now) {
    if (unit.index >= since_.size()) since_.resize(unit.index + 1, kPlaced);
    if (since_[unit.index] != kPlaced) return;
    since_[unit.index] = now;
    ++units_;
    listed_.push_back(unit);
    if (listed_.size() > 2 * units_ + 64) tidy();
  }
  void forget(PodId unit) {
    if (unit.index >= since_.size() || since_[unit.index] == kPlaced) return;
    since_[unit.index] = kPlaced;
    --units_;
  }
  std::vector<Unit> sorted();  // in the order of first_pod

 private:
  static constexpr Time kPlaced = Time::max();
  void tidy();  // sorts the list; drops forgotten and repeated units

  std::vector<Time> since_;    // by index of the unit's first pod; kPlaced: not in the set
  std::vector<PodId> listed_;  // may hold forgotten units, and a unit twice
  size_t units_ = 0;
};

// Observes each change of jobs, pods and nodes, so a controller's tick need not search for changes.
class ControlNews {
 public:
  ControlNews(const Engine& engine, const JobTable& jobs) : engine_{engine}, jobs_{jobs} {}

  void connect(JobNews& jobs, PodNews& pods, NodeNews& nodes);

  const NewsLog<NodeChange>& node_changes() const { return node_changes_; }
  const NewsLog<GangFailure>& gang_failures() const { return gang_failures_; }
  bool has_logged() const { return !node_changes_.empty() || !gang_failures_.empty(); }
  void drop_before(uint64_t node_changes, uint64_t gang_failures) {
    node_changes_.drop_before(node_changes);
    gang_failures_.drop_before(gang_failures);
  }
  std::span<const WaitingJob> waiting() const { return waiting_; }  // longest wait first
  int64_t lone_pods() const { return lone_pods_; }
  int64_t lone_pods_with_siblings() const { return with_siblings_; }
  UnplacedUnits& unplaced() { return unplaced_; }
  Signal<> changed;  // a job begins to wait, a gang failed, or a node went down or came up

 private:
  void job_arrived(JobId job);
  void phase_changed(JobId job, JobPhase before, JobPhase after);
  void waits(JobId job);
  void no_longer_waits(JobId job);
  void gang_failed(JobId job);
  void job_over(JobId job) { count_lone(job, -1); }
  void count_lone(JobId job, int64_t by);
  void node_down(NodeId node, NodeReason why);
  void node_up(NodeId node);

  const Engine& engine_;
  const JobTable& jobs_;
  NewsLog<NodeChange> node_changes_;
  NewsLog<GangFailure> gang_failures_;
  std::vector<WaitingJob> waiting_;
  int64_t lone_pods_ = 0, with_siblings_ = 0;
  UnplacedUnits unplaced_;
};

}  // namespace orrery

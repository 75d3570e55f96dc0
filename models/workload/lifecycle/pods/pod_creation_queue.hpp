// models/workload/lifecycle/pods/pod_creation_queue.hpp -- the order in which controllers create
// pods.
//
// As in upstream (pkg/controller/job, v1.36), each of a few workers syncs one job at a time. A sync
// creates at most MaxPodCreateDeletePerSync pods in batches of 1, 2, 4, ... (slow start); each
// batch waits for all responses to the batch before. A job that still lacks pods goes to the back
// of the queue. Workers take turns, a batch each, so two jobs that arrive together interleave: A1
// B1 A2-3 B2-3 A4-7 ... A parallel StatefulSet creates all its missing pods in one batch, an
// ordered StatefulSet one pod at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/workload/job/job.hpp"

namespace orrery {

class PodCreationQueue {
 public:
  struct Ticket {  // pods of a job; the serial shows whether its ids were recycled meanwhile
    RoleId unit;   // the first of the roles whose pods are created together
    uint64_t serial = 0;
    bool is_whole = false;  // one batch creates all missing pods
  };

  PodCreationQueue(int32_t workers, int32_t pods_per_sync_max)
      : pods_per_sync_max_{pods_per_sync_max}, workers_(static_cast<size_t>(workers)) {}

  void add(Ticket ticket) { waiting_.push_back(ticket); }
  // Whether round() would do anything: a worker without open requests has a job or may get one.
  bool has_work() const {
    return std::ranges::any_of(workers_, [this](const Worker& worker) {
      return worker.unanswered == 0 && (worker.is_busy || !waiting_.empty());
    });
  }
  // Call at each response to a create request of this worker. Returns true once the whole batch is
  // answered, so the worker may continue.
  bool answered(uint32_t worker) { return --workers_[worker].unanswered == 0; }

  // Each worker without open requests does one batch. `wanted(ticket)` returns how many pods of the
  // job may be created now (0: none, or the job is gone). `create(ticket, n, worker)` creates n
  // pods and returns how many calls of answered() there will be for them. Some of these calls may
  // come before create() returns.
  template <class Wanted, class Create>
  void round(Wanted&& wanted, Create&& create) {
    for (uint32_t w = 0; w < workers_.size(); ++w) {
      Worker& worker = workers_[w];
      if (worker.unanswered > 0) continue;
      if (!worker.is_busy && !begin_sync(worker, wanted)) continue;
      const int32_t lacking = std::min(worker.left, wanted(worker.ticket));
      const int32_t batch = std::min(worker.batch, lacking);
      worker.left = lacking - batch;
      worker.batch = 2 * std::min(worker.batch, kBatchMax);
      if (batch > 0) {
        worker.unanswered += batch;
        worker.unanswered -= batch - create(worker.ticket, batch, w);
      }
      if (worker.left > 0) continue;
      worker.is_busy = false;
      if (wanted(worker.ticket) > 0) waiting_.push_back(worker.ticket);
    }
  }

 private:
  static constexpr int32_t kBatchMax = 1 << 29;
  struct Worker {
    Ticket ticket;
    int32_t batch = 1;
    int32_t left = 0;        // pods left in this sync
    int32_t unanswered = 0;  // open requests of its last batch
    bool is_busy = false;
  };

  template <class Wanted>
  bool begin_sync(Worker& worker, Wanted& wanted) {
    while (!waiting_.empty()) {
      const Ticket ticket = waiting_.front();
      waiting_.pop_front();
      const int32_t lacking = wanted(ticket);
      if (lacking == 0) continue;
      worker = {.ticket = ticket,
                .batch = ticket.is_whole ? lacking : 1,
                .left = ticket.is_whole ? lacking : std::min(lacking, pods_per_sync_max_),
                .unanswered = 0,
                .is_busy = true};
      return true;
    }
    return false;
  }

  int32_t pods_per_sync_max_;
  std::vector<Worker> workers_;
  std::deque<Ticket> waiting_;
};

}  // namespace orrery

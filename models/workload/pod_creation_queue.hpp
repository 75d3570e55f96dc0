// models/workload/pod_creation_queue.hpp -- in which order the Job controller creates pods.
//
// As upstream's (pkg/controller/job, v1.36): a few workers, each with one job at a time; a sync
// creates at most MaxPodCreateDeletePerSync pods in batches of 1, 2, 4, ... (slow start); a job
// that still lacks pods then goes to the back of the queue. The workers take turns, a batch each,
// so two jobs that arrive together interleave: A1 B1 A2-3 B2-3 A4-7 ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/workload/job.hpp"

namespace orrery {

class PodCreationQueue {
 public:
  struct Ticket {  // a job; the serial shows whether its id was recycled meanwhile
    JobId job;
    uint64_t serial = 0;
  };

  PodCreationQueue(int32_t workers, int32_t pods_per_sync_max)
      : pods_per_sync_max_{pods_per_sync_max}, workers_(static_cast<size_t>(workers)) {}

  void add(Ticket ticket) { waiting_.push_back(ticket); }
  bool is_empty() const { return waiting_.empty() && busy_ == 0; }

  // One batch from every worker. `wanted(ticket)` is how many pods the job still lacks (0: it is
  // gone); `create(ticket, n)` creates n of them.
  template <class Wanted, class Create>
  void round(Wanted&& wanted, Create&& create) {
    for (Worker& worker : workers_) {
      if (!worker.is_busy && !begin_sync(worker, wanted)) continue;
      const int32_t lacking = std::min(worker.left, wanted(worker.ticket));
      const int32_t batch = std::min(worker.batch, lacking);
      if (batch > 0) create(worker.ticket, batch);
      worker.left = lacking - batch;
      worker.batch = 2 * batch;
      if (worker.left > 0) continue;
      worker.is_busy = false;
      --busy_;
      if (wanted(worker.ticket) > 0) waiting_.push_back(worker.ticket);
    }
  }

 private:
  struct Worker {
    Ticket ticket;
    int32_t batch = 1;
    int32_t left = 0;  // of this sync
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
                .batch = 1,
                .left = std::min(lacking, pods_per_sync_max_),
                .is_busy = true};
      ++busy_;
      return true;
    }
    return false;
  }

  int32_t pods_per_sync_max_;
  std::vector<Worker> workers_;
  size_t busy_ = 0;
  std::deque<Ticket> waiting_;
};

}  // namespace orrery

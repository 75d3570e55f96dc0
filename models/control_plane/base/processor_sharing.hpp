// models/control_plane/base/processor_sharing.hpp -- cores, or a link, shared equally by all jobs
// in service.
#pragma once

#include <cstdint>
#include <functional>

#include "models/control_plane/base/indexed_heap.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// n jobs on c cores each advance at min(1, c / n) of a core. Virtual time v passes at that rate, so
// a job of demand d that starts at v ends at v + d, whichever jobs come and go meanwhile. Only the
// next end is scheduled as an event. While each job has a core to itself, all times are whole
// nanoseconds. Example: on one core, A of 10 ms starts at 0 ms and B of 2 ms at 4 ms. B ends at
// v = 6 ms, when the simulated time is 8 ms. A ends at v = 10 ms, when the simulated time is 12 ms.
class ProcessorSharing {
 public:
  // Calls `done` with the id of each finished job.
  ProcessorSharing(Engine& engine, double cores, Label label, std::function<void(uint32_t)> done)
      : engine_{engine}, label_{label}, done_{std::move(done)}, cores_{cores} {}
  ProcessorSharing(const ProcessorSharing&) = delete;
  ProcessorSharing& operator=(const ProcessorSharing&) = delete;
  ~ProcessorSharing() { engine_.cancel(event_); }

  // Ids are small and dense. The job must not be in service already.
  void add(uint32_t job, Duration demand);
  void add_ns(uint32_t job, double demand);  // with demand 0 it ends in an event of this instant
  void erase(uint32_t job);                  // without calling `done`
  void clear();                              // all jobs, without calling `done`
  void set_cores(double cores);
  size_t size() const { return ends_.size(); }
  double left_ns(uint32_t job) const;  // rest of the job's demand
  double work_done() const;            // core-seconds until now

 private:
  double rate() const {
    const auto jobs = static_cast<double>(ends_.size());
    return jobs <= cores_ ? 1.0 : cores_ / jobs;
  }
  void settle();
  void plan();
  void serve();

  Engine& engine_;
  Label label_;
  std::function<void(uint32_t)> done_;
  double cores_;
  double virtual_ns_ = 0;  // virtual time at since_; restarts from 0 when no job is in service
  double work_ns_ = 0;
  Time since_;
  IndexedHeap<double> ends_;  // ends of jobs in virtual time
  EventId event_;
  Time event_time_ = Time::max();  // max: no event
};

}  // namespace orrery

#include "models/control_plane/base/processor_sharing.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {

void ProcessorSharing::settle() {
  const Time now = engine_.now();
  const auto passed = static_cast<double>((now - since_).ns);
  since_ = now;
  if (ends_.empty()) {
    virtual_ns_ = 0;
    return;
  }
  virtual_ns_ += passed * rate();
  work_ns_ += passed * rate() * static_cast<double>(ends_.size());
}

double ProcessorSharing::work_done() const {
  const auto passed = static_cast<double>((engine_.now() - since_).ns);
  return (work_ns_ + passed * rate() * static_cast<double>(ends_.size())) * 1e-9;
}

void ProcessorSharing::plan() {
  Time next = Time::max();
  if (!ends_.empty()) {
    const double left = std::max(ends_.top_key() - virtual_ns_, 0.0) / rate();
    // Rounds up to whole nanoseconds. An end beyond the range of Duration is not planned.
    if (left < 9e18) next = engine_.now() + Duration{static_cast<int64_t>(std::ceil(left))};
  }
  if (next == event_time_) return;
  engine_.cancel(event_);
  event_time_ = next;
  if (next != Time::max()) {
    event_ = engine_.at(next, label_, [this] { serve(); });
  }
}

void ProcessorSharing::serve() {
  event_time_ = Time::max();
  settle();
  const uint32_t job = ends_.top();  // the job whose end this event was planned for
  ends_.erase(job);
  plan();  // a second job that ends at this instant has its own event
  done_(job);
}

void ProcessorSharing::add(uint32_t job, Duration demand) {
  ORRERY_CHECK(demand.ns > 0, "a job has a demand above 0");
  add_ns(job, static_cast<double>(demand.ns));
}

void ProcessorSharing::add_ns(uint32_t job, double demand) {
  settle();
  ends_.push(job, virtual_ns_ + demand);
  plan();
}

double ProcessorSharing::left_ns(uint32_t job) const {
  const auto passed = static_cast<double>((engine_.now() - since_).ns);
  return std::max(ends_.key(job) - virtual_ns_ - passed * rate(), 0.0);
}

void ProcessorSharing::erase(uint32_t job) {
  settle();
  ends_.erase(job);
  plan();
}

void ProcessorSharing::clear() {
  settle();
  ends_.clear();
  plan();
}

void ProcessorSharing::set_cores(double cores) {
  ORRERY_CHECK(cores > 0, "the number of cores is above 0");
  settle();
  cores_ = cores;
  plan();
}

}  // namespace orrery

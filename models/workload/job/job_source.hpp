// models/workload/job/job_source.hpp -- a stream of jobs in order of submission.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job.hpp"

namespace orrery {

// Streams: memory must not grow with the number of jobs. Submit times must never decrease.
class JobSource {
 public:
  virtual ~JobSource() = default;
  // The next job, valid until pop(); null at the end or after an error.
  virtual const JobSpec* peek() = 0;
  virtual void pop() = 0;
  // What is wrong with the input, for the user; empty without errors.
  virtual std::optional<std::string> error() const { return std::nullopt; }
  // What was left out of the input so far, and its oddities; one sentence each.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace orrery

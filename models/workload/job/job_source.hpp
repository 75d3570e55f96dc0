// models/workload/job/job_source.hpp -- a stream of jobs in order of submission.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job.hpp"

namespace orrery {

// A source streams jobs: the memory of the source must not grow with the number of jobs. Submit
// times must never decrease.
class JobSource {
 public:
  virtual ~JobSource() = default;
  // The next job, valid until pop(); null at the end or after an error.
  virtual const JobSpec* peek() = 0;
  virtual void pop() = 0;
  // What is wrong with the input, as a message for the user. Empty without errors.
  virtual std::optional<std::string> error() const { return std::nullopt; }
  // Sentences about rows of the input that were left out so far, and about other oddities of the
  // input.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace orrery

// models/workload/sources/permuted_ties.hpp -- jobs of equal submit times in a random order.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job_source.hpp"
#include "models/workload/job/job_sources.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

// Jobs may have equal submit times if a trace has times in whole seconds, or if sources are merged.
// The order of such jobs is arbitrary. Runs with several orders show how much the order matters.
// The class reads all jobs of a submit time before it delivers the first. Example: A and B arrive
// at 0 s, C at 5 s. One seed gives A B C, another B A C.
class PermutedTies final : public JobSource {
 public:
  PermutedTies(JobSources sources, Rng rng) : sources_{std::move(sources)}, rng_{rng} {}

  const JobSpec* peek() override;
  void pop() override { ++next_; }
  std::optional<std::string> error() const override { return sources_.error(); }
  std::vector<std::string> notes() const override { return sources_.notes(); }

 private:
  void take_ties();

  JobSources sources_;
  Rng rng_;
  std::vector<JobSpec> ties_;
  size_t next_ = 0;  // index in ties_
};

}  // namespace orrery

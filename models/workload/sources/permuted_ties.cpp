#include "models/workload/sources/permuted_ties.hpp"

#include <utility>

namespace orrery {

const JobSpec* PermutedTies::peek() {
  if (next_ == ties_.size()) take_ties();
  // After bad input there are no more jobs, because the run stops at that input.
  return next_ < ties_.size() && !sources_.error() ? &ties_[next_] : nullptr;
}

void PermutedTies::take_ties() {
  ties_.clear();
  next_ = 0;
  for (JobSource* source = sources_.next(); source != nullptr; source = sources_.next()) {
    if (!ties_.empty() && source->peek()->submitted > ties_.front().submitted) break;
    ties_.push_back(*source->peek());
    source->pop();
  }
  for (size_t left = ties_.size(); left > 1; --left) {  // Fisher and Yates
    std::swap(ties_[left - 1], ties_[rng_.below(left)]);
  }
}

}  // namespace orrery

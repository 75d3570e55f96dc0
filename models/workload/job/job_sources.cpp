#include "models/workload/job/job_sources.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

JobSource* JobSources::next() {
  JobSource* first = nullptr;
  for (const auto& source : sources_) {
    const JobSpec* const request = source->peek();
    if (request == nullptr) {
      if (!error_) error_ = source->error();
      continue;
    }
    if (first == nullptr || request->submitted < first->peek()->submitted) first = source.get();
  }
  return first;
}

bool JobSources::is_empty() const {
  return std::ranges::none_of(sources_,
                              [](const auto& source) { return source->peek() != nullptr; });
}

std::vector<std::string> JobSources::notes() const {
  std::vector<std::string> notes;
  for (const auto& source : sources_) {
    for (std::string& note : source->notes()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace orrery

#include "models/scenario/scenario_jobs.hpp"

#include <algorithm>
#include <charconv>
#include <variant>

#include "sim/config/diagnostics.hpp"

namespace orrery {

ScenarioJobs::ScenarioJobs(const WorkloadParams& params) {
  for (const JobSourceParams& source : params.sources) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&source);
    if (listed == nullptr) {
      are_all_ = false;
      continue;
    }
    int64_t first_id = 0;
    for (const ExplicitJobParams& job : listed->jobs) {
      entries_.push_back({&job, first_id});
      first_id += job.count;
    }
  }
}

bool ScenarioJobs::is_called(const Entry& entry, std::string_view name) {
  if (!entry.job->name.empty()) return entry.job->name == name;
  constexpr std::string_view kPrefix = "job-";
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view digits = name.substr(kPrefix.size());
  int64_t id = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), id);
  return std::to_string(id) == digits && id >= entry.first_id &&
         id < entry.first_id + entry.job->count;
}

std::vector<const ExplicitJobParams*> ScenarioJobs::called(std::string_view name) const {
  std::vector<const ExplicitJobParams*> found;
  for (const Entry& entry : entries_) {
    if (is_called(entry, name)) found.push_back(entry.job);
  }
  return found;
}

bool ScenarioJobs::check_name(std::string_view name, std::string_view field, Checker& c) const {
  const auto fits = [&](const Entry& entry) { return is_called(entry, name); };
  if (!are_all_ || std::ranges::any_of(entries_, fits)) return true;
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    const bool is_unnamed = entry.job->name.empty();
    names.push_back(is_unnamed ? "job-" + std::to_string(entry.first_id) : entry.job->name);
  }
  c.error(field, "no job is called " + in_quotes(name) + did_you_mean(name, names));
  return false;
}

}  // namespace orrery

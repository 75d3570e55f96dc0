#include "models/cluster/offered_load.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <variant>
#include <vector>

namespace orrery {
namespace {

constexpr int64_t kJobsMax = 20'000;
constexpr std::uintmax_t kTraceBytesMax = 32U << 20U;

struct Asked {
  double gpu_s = 0;
  double gpus_for_ever = 0;  // GPUs of jobs that never end
  Duration last;             // when the last job is submitted
  // False if the source has more than kJobsMax jobs before the end of the run.
  bool is_whole = true;
};

double gpus_of(const JobSpec& job) {
  double milli = 0;
  for (const GangSpec& gang : job.gangs) {
    for (const RoleSpec& role : gang.roles) {
      milli += static_cast<double>(role.spec.gpus) * role.spec.gpu_milli * role.pods;
    }
  }
  return milli / 1000;
}

Asked asked_of(JobSource& source, std::optional<Duration> until) {
  Asked asked;
  for (int64_t jobs = 0;; ++jobs) {
    const JobSpec* const job = source.peek();
    if (job == nullptr || (until && job->submitted - Time{} >= *until)) return asked;
    asked.last = job->submitted - Time{};
    if (jobs == kJobsMax) break;
    if (job->work >= kNeverEnds) {
      asked.gpus_for_ever += gpus_of(*job);
    } else {
      const Duration runs = job->ending ? std::min(job->work, job->ending->after) : job->work;
      asked.gpu_s += gpus_of(*job) * runs.seconds();
    }
    source.pop();
  }
  asked.is_whole = false;
  return asked;
}

bool is_left_out(const JobSourceParams& source, bool reads_traces) {
  const auto* const trace = std::get_if<TraceSourceParams>(&source);
  if (trace == nullptr) return false;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(trace->file, error);
  return !reads_traces || error || bytes > kTraceBytesMax || trace->shuffle;
}

std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string rounded(double value) { return formatted(value < 1000 ? "%.3g" : "%.0f", value); }

}  // namespace

std::optional<OfferedLoad> offered_load(const Scenario& scenario, const ClusterState& state,
                                        bool reads_traces) {
  OfferedLoad load{.gpus = state.gpus_total()};
  WorkloadParams workload = scenario.workload;
  const size_t left_out = std::erase_if(workload.sources, [&](const JobSourceParams& source) {
    return is_left_out(source, reads_traces);
  });
  load.traces_left_out = static_cast<int64_t>(left_out);
  std::vector<Asked> all;
  Duration last;
  for (const auto& source : make_job_sources(workload, RngStreams{scenario.run.seed}, 0)) {
    all.push_back(asked_of(*source, scenario.run.until));
    last = std::max(last, all.back().last);
  }
  const Duration span = scenario.run.until.value_or(last);
  for (const Asked& asked : all) {
    load.gpu_h_per_h += asked.gpus_for_ever;
    const Duration during = asked.is_whole ? span : asked.last;
    if (during > Duration{}) load.gpu_h_per_h += asked.gpu_s / during.seconds();
    if (during <= Duration{}) load.gpu_h += asked.gpu_s / 3600;
  }
  if (load.gpus == 0 || (load.gpu_h_per_h <= 0 && load.gpu_h <= 0)) return std::nullopt;
  return load;
}

std::string to_text(const OfferedLoad& load) {
  const auto gpus = static_cast<double>(load.gpus);
  const double share = load.gpu_h_per_h / gpus;
  std::string text;
  if (load.gpu_h_per_h <= 0) {
    text = rounded(load.gpu_h) + " GPU-hours requested at one instant, " +
           rounded(load.gpu_h / gpus) + " h of all " + std::to_string(load.gpus) + " GPUs";
  } else {
    text = share < 1 ? formatted("%.3g %% of what the cluster has: ", 100 * share)
                     : rounded(share) + " times what the cluster has: ";
    text += rounded(load.gpu_h_per_h) + " GPU-hours requested per hour, " +
            std::to_string(load.gpus) + " available";
  }
  if (load.traces_left_out > 0) text += "; traces are not counted";
  return text;
}

}  // namespace orrery

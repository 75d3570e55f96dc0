#include "sim/cli/trace_generate.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/native/native_writer.hpp"
#include "models/workload/traces/requests/request_reader.hpp"
#include "models/workload/traces/synthesis/quantiles.hpp"
#include "models/workload/traces/synthesis/trace_model.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "sim/cli/trace_provenance.hpp"
#include "sim/cli/trace_text.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

// Values of a trace, for comparing the distributions of a recorded and a generated trace.
struct Sample {
  std::vector<double> gaps, hours, gpus, cores, durations, work;
  std::map<std::string, int64_t, std::less<>> jobs_of_user;
  Time last;

  void add(const TraceJob& job) {
    if (!durations.empty()) gaps.push_back((job.submit - last).seconds());
    last = job.submit;
    hours.push_back(Duration{job.submit.ns % Duration{1_d}.ns}.seconds() / 3600);
    const double gpu = static_cast<double>(job.gpu_milli_total()) / 1000;
    const double core = static_cast<double>(job.cpu_milli()) / 1000;
    if (gpu > 0) gpus.push_back(gpu);
    if (gpu <= 0 && core > 0) cores.push_back(core);
    durations.push_back(job.duration.seconds());
    work.push_back((gpu > 0 ? gpu : core) * job.duration.seconds());
    const auto known = jobs_of_user.find(job.user);
    if (known != jobs_of_user.end()) {
      ++known->second;
    } else if (!job.user.empty()) {
      jobs_of_user.emplace(job.user, 1);
    }
  }

  // One entry for each job that has a user: the rank of this user. The user with most jobs has
  // rank 0. The entries are sorted.
  std::vector<double> ranks() const {
    std::vector<int64_t> counts;
    for (const auto& [user, jobs] : jobs_of_user) counts.push_back(jobs);
    std::ranges::sort(counts, std::greater{});
    std::vector<double> ranks;
    for (size_t i = 0; i < counts.size(); ++i) {
      ranks.insert(ranks.end(), static_cast<size_t>(counts[i]), static_cast<double>(i));
    }
    return ranks;
  }
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::string comparison_row(const char* name, const std::vector<double>& recorded,
                           const std::vector<double>& made) {
  if (recorded.empty() || made.empty()) return "";
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "  %-24s%12.6g%12.6g%9.4f%9.4f\n", name, mean(recorded),
                mean(made), traces::ks_distance(recorded, made),
                traces::ks_bound(recorded.size(), made.size()));
  return text.data();
}

std::string comparison(const Sample& recorded, const Sample& made) {
  std::array<char, 160> head{};
  std::snprintf(head.data(), head.size(), "%26s%12s%12s%9s%9s\n", "", "mean", "mean made", "KS",
                "5 %");
  std::string text = head.data();
  text += comparison_row("between arrivals, s", recorded.gaps, made.gaps);
  text += comparison_row("hour of the day", recorded.hours, made.hours);
  text += comparison_row("GPUs", recorded.gpus, made.gpus);
  text += comparison_row("cores, no GPU", recorded.cores, made.cores);
  text += comparison_row("run time, s", recorded.durations, made.durations);
  text += comparison_row("size x run time, s", recorded.work, made.work);
  text += comparison_row("rank of the user", recorded.ranks(), made.ranks());
  return text +
         "KS is the largest difference between the two cumulative distributions. 5 % is the value\n"
         "that KS exceeds in one of twenty pairs of independent samples of one distribution.\n";
}

std::optional<TraceModelParams> read_spec(const std::string& path, const Arguments& arguments,
                                          std::ostream& err) {
  Diagnostics diagnostics;
  config::Document document = config::load_file(path, diagnostics);
  for (const std::string& assignment : arguments.all("set")) {
    config::apply_override(document, assignment, diagnostics);
  }
  TraceModelParams params;
  if (document.is_usable) params = read_params<TraceModelParams>(document.root, "", diagnostics);
  params.trace.lenient = params.trace.lenient || arguments.has("lenient");
  const fs::path file{params.trace.file};  // relative to the specification
  if (!file.empty() && file.is_relative()) {
    params.trace.file = (fs::path{path}.parent_path() / file).lexically_normal().string();
  }
  if (const RequestFormat requests = detect_requests(params.trace.file);
      params.trace.format == TraceFormat::Auto && requests != RequestFormat::Auto) {
    diagnostics.error(document.root["trace"]["file"].position, "trace.file",
                      "holds requests (" + std::string{name_of(requests)} +
                          "), and only traces of jobs can be imitated; `orrery trace convert` with "
                          "--set copies=2 or time_scale=0.5 multiplies requests");
  }
  if (diagnostics.ok()) return params;
  for (const std::string& message : diagnostics.messages()) err << message << "\n";
  return {};
}

// Facts about the generated trace: its source, and the parameters with which it was made.
std::vector<TraceFact> provenance(const TraceModelParams& params, const TraceReader& reader) {
  std::vector<TraceFact> facts =
      provenance(params.trace, name_of(reader.format()), reader.side_files(), reader.facts());
  facts.front().second.insert(0, "made up after ");
  TraceModelParams made = params;
  made.trace = {};
  facts.emplace_back("made_with",
                     config::to_flow_text(config::type_of<TraceModelParams>().write(&made)));
  return as_lines(std::move(facts));
}

}  // namespace

ExitStatus trace_generate(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const std::string& target = arguments.positional[2];
  const auto params = read_spec(arguments.positional[1], arguments, err);
  if (!params) return ExitStatus::UserMistake;
  std::error_code error;  // set if a file does not exist; the two files then differ
  if (fs::equivalent(params->trace.file, target, error) ||
      fs::equivalent(arguments.positional[1], target, error)) {
    throw UsageError{"the output would replace what it is made from"};
  }
  TraceModel model;
  Sample recorded, made;
  const auto reader = open_trace(params->trace);
  while (const TraceJob* job = reader->next()) {
    model.add(*job);
    recorded.add(*job);
  }
  if (!reader->errors().empty()) {
    err << reader->errors().front() << "\n";
    return ExitStatus::UserMistake;
  }
  if (model.jobs() == 0) {
    err << params->trace.file << ": holds no jobs to imitate\n";
    return ExitStatus::UserMistake;
  }
  model.fit();
  ModelledTrace trace{model, *params};
  NativeWriter writer{target, provenance(*params, *reader)};
  while (const TraceJob* job = trace.next()) {
    if (!writer.error().empty()) break;
    writer.add(*job);
    made.add(*job);
  }
  if (!writer.finish()) {
    err << writer.error() << "\n";
    return ExitStatus::OutputFailed;
  }
  out << target << ": " << writer.jobs() << " jobs after " << model.jobs() << " of "
      << params->trace.file << "\n"
      << comparison(recorded, made) << notes_text(reader->notes());
  return ExitStatus::Ok;
}

}  // namespace orrery

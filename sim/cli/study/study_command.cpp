#include "sim/cli/study/study_command.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "sim/cli/log.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/stop_signal.hpp"
#include "sim/cli/study/study_file.hpp"
#include "sim/cli/study/study_findings.hpp"
#include "sim/cli/study/study_pairs.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_progress.hpp"
#include "sim/cli/study/study_report.hpp"
#include "sim/cli/study/study_results.hpp"
#include "sim/cli/study/study_runner.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

struct Part {
  size_t part = 1, parts = 1;
  bool is_all = true;  // whether `until` may add seeds; false in a shard
};

size_t number_in(std::string_view text, std::string_view what, size_t high) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= 1 && number <= high) {
    return number;
  }
  throw UsageError{std::string{what} + " needs a whole number from 1 to " + std::to_string(high) +
                   ", got " + in_quotes(text)};
}

// "2/5" is the second of five parts.
Part part_in(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) {
    throw UsageError{"study shard needs a part such as 2/5, got " + in_quotes(text)};
  }
  constexpr size_t kPartsMax = 100'000;
  const size_t parts =
      number_in(std::string_view{text}.substr(slash + 1), "study shard", kPartsMax);
  return {number_in(std::string_view{text}.substr(0, slash), "study shard", parts), parts, false};
}

std::string folder_of(const Arguments& arguments, const std::string& study) {
  if (const auto given = arguments.one("output")) {
    if (given->empty()) throw UsageError{"--output needs a folder"};
    if (*given == "-") {
      throw UsageError{"--output -: a study is a folder of files, not for standard output"};
    }
    return *given;
  }
  return fs::path{study}.stem().string();
}

ExitStatus mistakes(const Diagnostics& diagnostics, const std::string& path, std::ostream& err) {
  for (const std::string& message : diagnostics.messages()) err << message << "\n";
  const size_t count = diagnostics.count();
  err << path << ": " << count << (count == 1 ? " mistake" : " mistakes") << "\n";
  return ExitStatus::UserMistake;
}

int32_t jobs_of(const Arguments& arguments) {
  const auto given = arguments.one("jobs");
  if (!given) return static_cast<int32_t>(std::max(std::thread::hardware_concurrency(), 1U));
  return static_cast<int32_t>(number_in(*given, "--jobs", 4096));
}

ReportFormat format_of(const Arguments& arguments) {
  const auto given = arguments.one("format");
  if (!given) return ReportFormat::Markdown;
  const auto names = enum_names(ReportFormat{});
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == *given) return static_cast<ReportFormat>(i);
  }
  throw UsageError{"--format is markdown, csv or latex, not " + in_quotes(*given)};
}

ExitStatus print_plan(const StudyPlan& plan, std::ostream& out) {
  const StudyParams& params = plan.params();
  out << "cell,seed,label\n";
  for (const auto& [cell, seed] : runs_of(plan, 0, params.seeds.count)) {
    out << cell << ',' << seed << ',' << '"' << plan.label_of(cell) << "\"\n";
  }
  return ExitStatus::Ok;
}

StudyFolder folder_in(const Arguments& arguments, const StudyPlan& plan) {
  return StudyFolder{folder_of(arguments, plan.path()),
                     {.has_files = plan.params().keep_runs, .verifies = arguments.has("verify")}};
}

// Reports the damaged files of runs. Returns false if any file is damaged.
bool verify(const StudyPlan& plan, const StudyFolder& folder, std::ostream& err) {
  const std::vector<std::string> damaged = damaged_files(plan, folder);
  for (const std::string& file : damaged) err << file << ": is not as its run wrote it\n";
  if (damaged.empty()) return true;
  err << damaged.size() << (damaged.size() == 1 ? " damaged run" : " damaged runs")
      << ", left out here; 'orrery study run " << plan.path() << " -o " << folder.path()
      << " --verify' repeats the damaged runs\n";
  return false;
}

ExitStatus print_report(const StudyPlan& plan, const Arguments& arguments, std::ostream& out,
                        std::ostream& err) {
  const ReportFormat format = format_of(arguments);
  const StudyFolder folder = folder_in(arguments, plan);
  const bool is_whole = !arguments.has("verify") || verify(plan, folder, err);
  const std::vector<StudyRunResult> results = kept_runs(plan, folder);
  if (results.empty()) {
    err << folder.path() << ": holds no run of this study\n";
    return ExitStatus::UserMistake;
  }
  const size_t wanted = plan.cells() * static_cast<size_t>(plan.params().seeds.count);
  if (results.size() < wanted) {
    err << "so far " << results.size() << " of " << wanted << " runs\n";
  }
  out << report_text(plan, findings(plan, results), format);
  return is_whole ? ExitStatus::Ok : ExitStatus::UserMistake;
}

// The exit status of the worst run. A bug of Orrery is worst, then unwritable output, then a
// mistake of the user.
ExitStatus status_of(const std::vector<StudyRunResult>& results) {
  using enum ExitStatus;
  for (const ExitStatus status : {Internal, OutputFailed, UserMistake}) {
    if (std::ranges::any_of(results, [&](const StudyRunResult& result) {
          return !result.is_ok && result.failure.status == status;
        })) {
      return status;
    }
  }
  return Ok;
}

ExitStatus run_runs(const StudyPlan& plan, const Part& part, const Arguments& arguments,
                    std::ostream& out, std::ostream& err) {
  const bool is_quiet = arguments.has("quiet");
  const int32_t jobs = jobs_of(arguments);
  const StudyFolder folder = folder_in(arguments, plan);
  if (const std::string other = folder.take(plan); !other.empty()) {
    err << folder.path() << ": holds the runs of another study (" << other
        << "); choose another folder with -o, or remove this one\n";
    return ExitStatus::UserMistake;
  }
  Log log{err, is_quiet};
  log.info(plan.path() + ": " + std::to_string(plan.cells()) + " cells, " +
           std::to_string(plan.params().seeds.count) + " seeds, " + std::to_string(jobs) +
           " at once, output " + folder.path());
  const StopSignal stop;
  StudyProgressReporter progress{err, log, is_quiet};
  const std::vector<StudyRunResult> results =
      run_study(plan, folder,
                {.jobs = jobs,
                 .part = part.part,
                 .parts = part.parts,
                 .is_all = part.is_all,
                 .inputs = plugin_files(arguments),
                 .stop = &stop.flag(),
                 .on_progress = [&](const StudyProgress& p) { progress.update(p); },
                 .on_failure = [&](const std::string& text) { progress.failure(text); }});
  progress.clear();
  log.info(progress.total());
  const ExitStatus status = status_of(results);
  if (!part.is_all) {
    if (stop.flag()) return ExitStatus::Stopped;
    return status == ExitStatus::OutputFailed ? status : ExitStatus::Ok;
  }
  const std::vector<StudyMetric> metrics = findings(plan, results);
  write_study(fs::path{folder.path()} / "study.h5", plan, results, metrics);
  if (stop.flag()) {
    err << "stopped; the same command goes on from here\n";
    return ExitStatus::Stopped;
  }
  if (!is_quiet) out << report_text(plan, metrics, ReportFormat::Markdown);
  return status;
}

ExitStatus print_pairs(const std::string& path, const Arguments& arguments, std::ostream& out,
                       std::ostream& err) {
  IntervalOptions options;
  if (const auto given = arguments.one("confidence")) {
    const char* const last = given->data() + given->size();
    const auto [end, error] = std::from_chars(given->data(), last, options.confidence);
    const bool is_in_range = options.confidence >= 0.5 && options.confidence <= 0.9999;  // nan: no
    if (error != std::errc{} || end != last || !is_in_range) {
      throw UsageError{"--confidence needs a number from 0.5 to 0.9999, got " + in_quotes(*given)};
    }
  }
  std::ifstream file{path};
  if (!file) {
    err << path << ": no such file\n";
    return ExitStatus::UserMistake;
  }
  out << pairs_csv(file, path, options);
  return ExitStatus::Ok;
}

}  // namespace

CommandSpec study_command_spec() {
  return {
      .name = "study",
      .doc =
          "Runs a grid of scenarios and compares them pair by pair (run FILE), lists the runs of "
          "the grid (plan FILE), runs a part of them (shard FILE 2/5), prints the findings "
          "(report FILE), or compares each column of a table with the first column, row by row "
          "(pairs TABLE.csv).",
      .positional = "run FILE | plan FILE | shard FILE I/N | report FILE | pairs TABLE.csv",
      .positional_min = 2,
      .positional_max = 3,
      .options = {
          {"output", 'o', "DIR", "Folder of the runs (default: the study's name)."},
          {"jobs", 'j', "N", "Runs at once (default: one per core)."},
          {"format", 0, "FORMAT", "Format of a report: markdown, csv or latex."},
          {"confidence", 0, "PART", "Confidence of the intervals of `pairs` (default: 0.95)."},
          {"verify", 0, "",
           "Compare each kept file with what its run wrote. `report` lists damaged files; "
           "`run` and `shard` repeat the runs of damaged files."},
          plugin_option(),
          {"quiet", 'q', "", "Print only errors."}}};
}

ExitStatus study_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const std::string& action = arguments.positional[0];
  const std::vector<std::string> actions{"run", "plan", "shard", "report", "pairs"};
  if (std::ranges::find(actions, action) == actions.end()) {
    throw UsageError{"no study command " + in_quotes(action) + did_you_mean(action, actions)};
  }
  if ((arguments.positional.size() == 3) != (action == "shard")) {
    throw UsageError{"study " + action +
                     (action == "shard" ? " needs FILE and I/N" : " needs FILE")};
  }
  const std::string& path = arguments.positional[1];
  if (action == "pairs") return print_pairs(path, arguments, out, err);
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  Diagnostics diagnostics;
  const StudyPlan plan{path, diagnostics};
  if (action != "report" && !arguments.has("quiet")) {
    for (const std::string& warning : diagnostics.warnings()) err << warning << "\n";
  }
  if (!diagnostics.ok()) return mistakes(diagnostics, path, err);
  if (action == "plan") return print_plan(plan, out);
  if (action == "report") return print_report(plan, arguments, out, err);
  const Part part = action == "shard" ? part_in(arguments.positional[2]) : Part{};
  return run_runs(plan, part, arguments, out, err);
}

}  // namespace orrery

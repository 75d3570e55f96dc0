#include "sim/cli/run_command.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "models/cluster/offered_load.hpp"
#include "models/run/simulation.hpp"
#include "sim/cli/failure.hpp"
#include "sim/cli/log.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/stop_signal.hpp"
#include "sim/cli/summary_text.hpp"
#include "sim/config/quantity.hpp"
#include "sim/record/hdf5_file.hpp"
#include "sim/record/hdf5_recorder.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using SimulationEnd = SimulationResult::End;

std::string output_path(const Arguments& arguments, const std::string& scenario) {
  if (const auto given = arguments.one("output")) {
    if (given->empty()) throw UsageError{"--output needs a file name"};
    if (*given == "-") {
      throw UsageError{
          "--output -: HDF5 cannot be written to standard output, as its parts are written in any "
          "order; name a file (a file called - is ./-)"};
    }
    return *given;
  }
  return fs::path{scenario}.stem().string() + ".h5";
}

// Rejects `output` if the file there is not HDF5, such as the scenario or a trace: a complete run
// would replace it. An HDF5 file counts as the output of an earlier run. Empty files are accepted.
void check_output(const std::string& output) {
  std::error_code error;
  if (!fs::is_regular_file(output, error) || fs::is_empty(output, error)) return;
  if (is_hdf5(output)) return;
  throw UsageError{"the output " + in_quotes(output) + " would replace a file that is not HDF5"};
}

uint64_t audit_every(const Arguments& arguments) {
  const auto given = arguments.one("audit-every");
  if (!given) return SimulationOptions{}.audit_every;
  uint64_t events = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), events);
  if (error != std::errc{} || end != given->data() + given->size()) {
    throw UsageError{"--audit-every needs a whole number, got " + in_quotes(*given)};
  }
  return events;
}

std::string opening_line(const Scenario& scenario, const std::string& path,
                         const std::string& output) {
  std::string line = path + ": seed " + std::to_string(scenario.run.seed);
  line += scenario.run.until ? ", until " + format_quantity(*scenario.run.until)
                             : std::string{", until every job is over"};
  line += ", policy " + std::string{name_of(scenario.policy.base)};
  line += ", driver " + std::string{name_of(resolve_driver(scenario.policy))};
  return line + ", output " + output;
}

ExitStatus refused(const ScenarioInput& input, const std::string& path, bool is_quiet,
                   std::ostream& err) {
  if (!is_quiet) print_warnings(input, err);
  print_mistakes(input, path, err);
  return ExitStatus::UserMistake;
}

ExitStatus report_end(const SimulationResult& result, const Hdf5Recorder& recorder, bool is_quiet,
                      std::ostream& out, std::ostream& err) {
  if (!is_quiet) out << summary_text(result, recorder.file_path()) << std::flush;
  if (result.end == SimulationEnd::Stopped) {
    err << "stopped; what was recorded so far is in " << recorder.file_path() << "\n";
    return ExitStatus::Stopped;
  }
  if (result.end == SimulationEnd::RecordFailed) {
    err << "the output could not be written: " << recorder.file_path() << "\n";
    return ExitStatus::OutputFailed;
  }
  return ExitStatus::Ok;
}

ExitStatus report_failure(const Failure& failure, const Hdf5Recorder& recorder, std::ostream& err) {
  err << failure.text << "\n";
  if (recorder.is_recording()) {
    err << "what was recorded so far is in " << recorder.file_path() << "\n";
  }
  return failure.status;
}

}  // namespace

CommandSpec run_command_spec() {
  return {.name = "run",
          .doc = "Simulates a scenario and writes its results into an HDF5 file.",
          .positional = "SCENARIO",
          .positional_min = 1,
          .positional_max = 1,
          .options = {{"output", 'o', "FILE", "Output (default: the scenario's name plus .h5)."},
                      set_option(),
                      {"seed", 0, "N", "Override run.seed."},
                      {"until", 0, "T", "Override run.until, as in 30d."},
                      plugin_option(),
                      {"audit-every", 0, "N",
                       "Events between audits of the invariants (default: 1000000; 0: no audits)."},
                      {"quiet", 'q', "", "Print only errors."}}};
}

ExitStatus run_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const std::string& path = arguments.positional.front();
  const std::string output = output_path(arguments, path);
  const bool is_quiet = arguments.has("quiet");
  const uint64_t events_per_audit = audit_every(arguments);
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  ScenarioInput input = read_input(path, arguments);
  if (!input.diagnostics.ok()) return refused(input, path, is_quiet, err);
  check_output(output);
  Log log{err, is_quiet};
  log.info(opening_line(input.scenario, path, output));
  const StopSignal stop;
  Hdf5Recorder recorder{{.path = output,
                         .compression = input.scenario.record.compression,
                         .off = input.scenario.record.off}};
  ProgressReporter progress{progress_mode(err, is_quiet), err, log};
  SimulationResult result;
  try {
    result = simulate(input.scenario, input.document, recorder,
                      {.on_progress = [&](const SimulationProgress& p) { progress.update(p); },
                       .on_warning =
                           [&](Time now, const std::string& warning) {
                             progress.clear();
                             log.warning("at " + format_simulated(now) + ": " + warning);
                           },
                       .on_begin =
                           [&](const ClusterState& state) {
                             if (is_quiet) return;
                             print_warnings(input, err);
                             const auto load = offered_load(input.scenario, state, true);
                             if (load) log.info("load: " + to_text(*load));
                           },
                       .stop = &stop.flag(),
                       .audit_every = events_per_audit},
                      input.diagnostics);
  } catch (...) {
    progress.clear();
    return report_failure(current_failure(), recorder, err);
  }
  progress.clear();
  if (!input.diagnostics.ok()) {
    recorder.discard();
    return refused(input, path, is_quiet, err);
  }
  for (const std::string& warning : result.warnings) log.warning(warning);
  if (result.end == SimulationEnd::BadInput) {
    recorder.discard();
    err << result.input_error << "\n" << path << ": 1 mistake\n";
    return ExitStatus::UserMistake;
  }
  return report_end(result, recorder, is_quiet, out, err);
}

}  // namespace orrery

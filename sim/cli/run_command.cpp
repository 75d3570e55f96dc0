#include "sim/cli/run_command.hpp"

#include <filesystem>

#include "sim/cli/log.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/simulation.hpp"
#include "sim/cli/stop_signal.hpp"
#include "sim/cli/summary_text.hpp"
#include "sim/config/quantity.hpp"
#include "sim/record/hdf5_recorder.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using End = SimulationResult::End;

std::string output_path(const Arguments& arguments, const std::string& scenario) {
  if (const auto given = arguments.one("output")) {
    if (given->empty()) throw UsageError{"--output needs a file name"};
    return *given;
  }
  return fs::path{scenario}.stem().string() + ".h5";
}

// A finished run replaces what is at its path; that must not be its own scenario.
void check_output(const std::string& output, const config::Document& document) {
  for (const config::SourceFile& source : document.sources) {
    std::error_code error;  // one of the two does not exist: they are not the same
    if (fs::equivalent(output, source.name, error)) {
      throw UsageError{"the output " + in_quotes(output) + " would replace the scenario"};
    }
  }
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

ExitStatus report_end(const SimulationResult& result, const Hdf5Recorder& recorder, bool is_quiet,
                      std::ostream& out, std::ostream& err) {
  if (!is_quiet) out << summary_text(result, recorder.file_path()) << std::flush;
  if (result.end == End::Stopped) {
    err << "stopped; what was recorded so far is in " << recorder.file_path() << "\n";
    return ExitStatus::Stopped;
  }
  if (result.end == End::RecordFailed) {
    err << "the output could not be written: " << recorder.file_path() << "\n";
    return ExitStatus::OutputFailed;
  }
  return ExitStatus::Ok;
}

}  // namespace

CommandSpec run_command_spec() {
  return {.name = "run",
          .doc = "Simulates a scenario and writes what happened into an HDF5 file.",
          .positional = "SCENARIO",
          .positional_min = 1,
          .positional_max = 1,
          .options = {{"output", 'o', "FILE", "Output; left out: the scenario's name with .h5."},
                      set_option(),
                      {"seed", 0, "N", "Override run.seed."},
                      {"until", 0, "T", "Override run.until, as in 30d."},
                      plugin_option(),
                      {"quiet", 'q', "", "Say nothing but errors."}}};
}

ExitStatus run_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const std::string& path = arguments.positional.front();
  const std::string output = output_path(arguments, path);
  const bool is_quiet = arguments.has("quiet");
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  ScenarioInput input = read_input(path, arguments);
  if (!input.diagnostics.ok()) {
    print_mistakes(input, path, err);
    return ExitStatus::UserMistake;
  }
  check_output(output, input.document);
  Log log{err, is_quiet};
  log.info(opening_line(input.scenario, path, output));
  const StopSignal stop;
  Hdf5Recorder recorder{{.path = output,
                         .compression = input.scenario.record.compression,
                         .off = input.scenario.record.off}};
  ProgressReporter progress{progress_mode(err, is_quiet), err, log};
  const SimulationResult result =
      simulate(input.scenario, input.document, recorder,
               {.on_progress = [&](const SimulationProgress& p) { progress.update(p); },
                .stop = &stop.flag()},
               input.diagnostics);
  progress.clear();
  if (!input.diagnostics.ok()) {
    recorder.discard();
    print_mistakes(input, path, err);
    return ExitStatus::UserMistake;
  }
  if (result.end == End::BadInput) {
    recorder.discard();
    err << result.input_error << "\n" << path << ": 1 mistake\n";
    return ExitStatus::UserMistake;
  }
  return report_end(result, recorder, is_quiet, out, err);
}

}  // namespace orrery

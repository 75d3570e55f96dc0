#include "sim/cli/trace_command.hpp"

#include <algorithm>
#include <filesystem>

#include "models/faults/logs/failure_log.hpp"
#include "models/workload/traces/formats/detect.hpp"
#include "models/workload/traces/native/native_request_writer.hpp"
#include "models/workload/traces/native/native_writer.hpp"
#include "models/workload/traces/requests/request_reader.hpp"
#include "models/workload/traces/tables/series.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "models/workload/traces/trace_statistics.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/trace_generate.hpp"
#include "sim/cli/trace_provenance.hpp"
#include "sim/cli/trace_text.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

// Reads from --set the parameters of a job trace, a request trace or a failure log.
template <class P>
std::optional<P> read_source_params(const std::string& file, const Arguments& arguments,
                                    std::ostream& err) {
  Diagnostics diagnostics;
  config::Document document = config::load_text("{}", "command line", diagnostics);
  for (const std::string& assignment : arguments.all("set")) {
    config::apply_override(document, assignment, diagnostics);
  }
  // The file's name bypasses the parser, because it may be any text.
  if (const config::Node* const given = document.root.find("file"); given != nullptr) {
    throw UsageError{"--set file=: name the file as an argument"};
  }
  document.root.entries.push_back(
      {.key = "file", .key_position = {}, .value = config::make_scalar(file, true)});
  auto params = read_params<P>(document.root, "", diagnostics);
  params.lenient = params.lenient || arguments.has("lenient");
  if (diagnostics.ok()) return params;
  for (const std::string& message : diagnostics.messages()) err << message << "\n";
  return {};
}

ExitStatus report_mistakes(const std::vector<std::string>& errors, std::ostream& err) {
  for (const std::string& error : errors) err << error << "\n";
  return errors.empty() ? ExitStatus::Ok : ExitStatus::UserMistake;
}

// Whether the file holds requests, not jobs. Decided by the format in --set, if given, else by the
// beginning of the file.
bool holds_requests(const std::string& file, const Arguments& arguments) {
  for (const std::string& set : arguments.all("set")) {
    constexpr std::string_view kKey = "format=";
    if (!set.starts_with(kKey) || set == "format=auto") continue;
    return std::ranges::count(enum_names(RequestFormat{}), set.substr(kKey.size())) > 0;
  }
  return detect_requests(file) != RequestFormat::Auto;
}

bool is_set(std::string_view name, const Arguments& arguments) {
  return std::ranges::any_of(arguments.all("set"), [&](const std::string& set) {
    return set.starts_with(std::string{name} + "=");
  });
}

// --from X is the same as --set format=X.
Arguments with_format(Arguments arguments) {
  const auto from = arguments.one("from");
  if (!from) return arguments;
  if (is_set("format", arguments)) throw UsageError{"--from and --set format= say the same"};
  arguments.options["set"].push_back("format=" + *from);
  return arguments;
}

// Shows as much as possible, so malformed rows are skipped. Unless `lenient` is set, they still
// make the exit status UserMistake.
ExitStatus request_info(RequestTraceParams params, std::ostream& out, std::ostream& err) {
  const bool is_lenient = params.lenient;
  params.lenient = true;
  out << params.file << "\n";
  const auto reader = open_requests(params);
  const std::string text = request_text(*reader);
  if (reader->error()) return report_mistakes(reader->errors(), err);
  out << text;
  return is_lenient ? ExitStatus::Ok : report_mistakes(reader->skipped_examples(), err);
}

bool is_guessed(const TraceParams& params) {
  return params.format == TraceFormat::Auto && params.columns == TraceColumns{};
}

// Whether the rows, or `default_duration`, give durations of jobs.
bool knows_durations(const TraceParams& params) {
  if (params.default_duration) return true;
  const std::string beginning = traces::read_beginning(traces::TextSource::open_file(params.file));
  const traces::Format* const format = traces::find_format(beginning, params.format);
  return format == nullptr || format->durations != traces::Durations::InNoRow;
}

// Shows the jobs as recorded or, if warm_start or window_start is set, as a replay would submit
// them. Example of a difference: a warm-started replay of an openb trace begins at the first end of
// a job, and jobs that are running then keep only the rest of their duration.
ExitStatus info(TraceParams params, const Arguments& arguments, std::ostream& out,
                std::ostream& err) {
  const bool is_lenient = params.lenient;
  params.lenient = true;
  const bool as_recorded = !is_set("warm_start", arguments) && params.window_start.empty();
  if (as_recorded) params.warm_start = false;
  const bool has_durations = knows_durations(params);
  if (!has_durations) params.default_duration = Duration{};
  out << params.file << "\n";
  const auto reader = open_trace(params);
  TraceStatistics statistics;
  while (const TraceJob* job = reader->next()) statistics.add(*job);
  if (!reader->errors().empty()) return report_mistakes(reader->errors(), err);
  out << trace_text(*reader, statistics, has_durations, is_guessed(params));
  if (as_recorded && traces::find_format({}, reader->format())->lists_survivors) {
    out << survivors_text(statistics);
  }
  if (is_lenient) return ExitStatus::Ok;
  return report_mistakes(reader->skipped_examples(), err);
}

ExitStatus failure_info(FailureLogParams params, std::ostream& out, std::ostream& err) {
  const bool is_lenient = params.lenient;
  params.lenient = true;
  out << params.file << "\n";
  const FailureLog log = read_failure_log(params);
  if (!log.error.empty()) return report_mistakes({log.error}, err);
  out << failure_text(log);
  return is_lenient ? ExitStatus::Ok : report_mistakes(log.skipped_examples, err);
}

ExitStatus series_info(SeriesParams params, std::ostream& out, std::ostream& err) {
  const bool is_lenient = params.lenient;
  params.lenient = true;
  out << params.file << "\n";
  const SeriesReport series = read_series(params);
  if (!series.errors.empty()) return report_mistakes(series.errors, err);
  out << series_text(series);
  return is_lenient ? ExitStatus::Ok : report_mistakes(series.skipped_examples, err);
}

// Writes `row` and all further rows of the reader.
template <class Writer, class Reader, class Row>
ExitStatus write_rows(Writer& writer, Reader& reader, const Row* row, std::ostream& err) {
  for (; row != nullptr && writer.error().empty(); row = reader.next()) writer.add(*row);
  if (!reader.errors().empty()) return report_mistakes(reader.errors(), err);
  if (writer.finish()) return ExitStatus::Ok;
  err << writer.error() << "\n";
  return ExitStatus::OutputFailed;
}

void tell_written(const std::string& target, int64_t rows, const char* what,
                  const std::vector<TraceNote>& notes, std::ostream& out) {
  std::error_code error;
  out << target << ": " << rows << what << std::filesystem::file_size(target, error) << " bytes\n"
      << notes_text(notes);
}

void refuse_to_replace(const std::string& file, const std::string& target) {
  std::error_code error;  // set if a file does not exist; the two files then differ
  if (std::filesystem::equivalent(file, target, error)) {
    throw UsageError{"the output would replace " + file + ", which it is made from"};
  }
}

ExitStatus convert(const TraceParams& params, const std::string& target, std::ostream& out,
                   std::ostream& err) {
  const auto reader = open_trace(params);
  for (const std::string& beside : reader->side_files()) refuse_to_replace(beside, target);
  // Reading the first job also reads the file's facts, which precede the jobs.
  const TraceJob* const first = reader->next();
  if (!reader->errors().empty()) return report_mistakes(reader->errors(), err);
  NativeWriter writer{
      target, provenance(params, name_of(reader->format()), reader->side_files(), reader->facts())};
  const ExitStatus status = write_rows(writer, *reader, first, err);
  if (status != ExitStatus::Ok) return status;
  out << layout_text(*reader, is_guessed(params));
  tell_written(target, writer.jobs(), " jobs, ", reader->notes(), out);
  return status;
}

ExitStatus convert_requests(const RequestTraceParams& params, const std::string& target,
                            std::ostream& out, std::ostream& err) {
  const auto reader = open_requests(params);
  const RequestRow* const first = reader->next();
  if (reader->error()) return report_mistakes(reader->errors(), err);
  NativeRequestWriter writer{target,
                             provenance(params, name_of(reader->format()), {}, reader->facts())};
  const ExitStatus status = write_rows(writer, *reader, first, err);
  if (status == ExitStatus::Ok) {
    tell_written(target, writer.requests(), " requests, ", reader->notes(), out);
  }
  return status;
}

}  // namespace

CommandSpec trace_command_spec() {
  return {
      .name = "trace",
      .doc =
          "info FILE says what is in a trace of jobs or requests, in a log of failures, or in "
          "measurements that come with traces. convert FILE NEW writes the jobs or requests of a "
          "trace in a compact native format; --set filters them as in a scenario. Example: "
          "`convert --from sacct jobs.txt jobs.ort`. generate SPEC NEW makes a synthetic trace "
          "that resembles a recorded trace of jobs; `orrery describe generate` explains the YAML "
          "file SPEC.",
      .positional = "info FILE | convert FILE NEW | generate SPEC NEW",
      .positional_min = 2,
      .positional_max = 3,
      .options = {{"set", 0, "name=value",
                   "Set a parameter. For jobs: of workload.sources.trace, as in queues=[vcA]. For "
                   "a failure log: of faults.logs. For requests: of `orrery describe requests`.",
                   true},
                  {"from", 0, "FORMAT", "The format of FILE, as in --set format=FORMAT."},
                  {"lenient", 0, "", "Skip malformed rows and say how many there were."}}};
}

ExitStatus trace_command(const Arguments& given, std::ostream& out, std::ostream& err) {
  const Arguments arguments = with_format(given);
  const std::string& action = arguments.positional[0];
  const bool is_info = action == "info";
  if (!is_info && action != "convert" && action != "generate") {
    throw UsageError{"'trace' can do info, convert and generate, not " + in_quotes(action)};
  }
  if (arguments.positional.size() != (is_info ? 2U : 3U)) {
    throw UsageError{"'trace " + action + "' takes " + (is_info ? "one file" : "two files")};
  }
  if (action == "generate" && given.has("from")) {
    throw UsageError{"'trace generate' takes no --from: the format stands in SPEC"};
  }
  if (action == "generate") return trace_generate(arguments, out, err);
  const std::string& file = arguments.positional[1];
  if (is_info && detect_failure_log(file) != FailureLogFormat::Auto) {
    const auto log = read_source_params<FailureLogParams>(file, arguments, err);
    return log ? failure_info(*log, out, err) : ExitStatus::UserMistake;
  }
  if (!is_info) refuse_to_replace(file, arguments.positional[2]);
  if (holds_requests(file, arguments)) {
    const auto requests = read_source_params<RequestTraceParams>(file, arguments, err);
    if (!requests) return ExitStatus::UserMistake;
    return is_info ? request_info(*requests, out, err)
                   : convert_requests(*requests, arguments.positional[2], out, err);
  }
  if (detect_series(file) != SeriesFormat::Auto && arguments.all("set").empty()) {
    if (is_info) return series_info({.file = file, .lenient = arguments.has("lenient")}, out, err);
    err << file << ": holds measurements, no jobs or requests: `trace info` sums them up\n";
    return ExitStatus::UserMistake;
  }
  const auto params = read_source_params<TraceParams>(file, arguments, err);
  if (!params) return ExitStatus::UserMistake;
  return is_info ? info(*params, arguments, out, err)
                 : convert(*params, arguments.positional[2], out, err);
}

}  // namespace orrery

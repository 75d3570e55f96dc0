#include "sim/cli/trace_command.hpp"

#include <algorithm>
#include <filesystem>

#include "models/faults/logs/failure_log.hpp"
#include "models/workload/traces/native_writer.hpp"
#include "models/workload/traces/request_reader.hpp"
#include "models/workload/traces/sha256.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "models/workload/traces/trace_statistics.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/trace_generate.hpp"
#include "sim/cli/trace_text.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

// The parameters of a trace or a failure log, as --set gives them.
template <class P>
std::optional<P> read_source_params(const std::string& file, const Arguments& arguments,
                                    std::ostream& err) {
  Diagnostics diagnostics;
  config::Document document = config::load_text("{}", "command line", diagnostics);
  for (const std::string& assignment : arguments.all("set")) {
    config::apply_override(document, assignment, diagnostics);
  }
  // A file's name is any text, so it goes around the parser.
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

// Requests are known by their own readers; null when the file is none of theirs.
std::unique_ptr<RequestReader> try_requests(const TraceParams& params) {
  if (params.format != TraceFormat::Auto) return nullptr;
  auto reader = open_requests({.file = params.file, .lenient = params.lenient});
  return reader->format() == RequestFormat::Auto ? nullptr : std::move(reader);
}

// Malformed rows are passed over, to show all that can be shown; they still end in a mistake,
// unless they were allowed.
ExitStatus info(TraceParams params, std::ostream& out, std::ostream& err) {
  const bool is_lenient = params.lenient;
  params.lenient = true;
  out << params.file << "\n";
  if (const auto requests = try_requests(params)) {
    out << request_text(*requests);
    const ExitStatus status = report_mistakes(requests->errors(), err);
    return requests->skipped() > 0 && !is_lenient ? ExitStatus::UserMistake : status;
  }
  const auto reader = open_trace(params);
  TraceStatistics statistics;
  while (const TraceJob* job = reader->next()) statistics.add(*job);
  if (!reader->errors().empty()) return report_mistakes(reader->errors(), err);
  out << trace_text(*reader, statistics);
  if (is_lenient) return ExitStatus::Ok;
  return report_mistakes(reader->skipped_examples(), err);
}

// Where the jobs came from, and what was done to them on the way.
std::vector<NativeWriter::Fact> provenance(const TraceParams& params, const TraceReader& reader,
                                           const Arguments& arguments) {
  std::vector<NativeWriter::Fact> facts;
  facts.emplace_back("source", std::filesystem::path{params.file}.filename().string());
  facts.emplace_back("source_sha256", traces::sha256_of_file(params.file).value_or("unknown"));
  facts.emplace_back("source_format", std::string{name_of(reader.format())});
  for (const std::string& set : arguments.all("set")) facts.emplace_back("set", set);
  if (params.lenient) facts.emplace_back("set", "lenient=true");
  facts.emplace_back("written_by", "orrery " ORRERY_VERSION);
  for (const auto& fact : reader.facts()) facts.push_back(fact);
  for (auto& [key, value] : facts) {
    std::replace(key.begin(), key.end(), '\n', ' ');
    std::replace(value.begin(), value.end(), '\n', ' ');
  }
  return facts;
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

ExitStatus convert(const TraceParams& params, const std::string& target, const Arguments& arguments,
                   std::ostream& out, std::ostream& err) {
  std::error_code error;  // one of the two does not exist: they are not the same
  if (std::filesystem::equivalent(params.file, target, error)) {
    throw UsageError{"the output would replace the trace it is made from"};
  }
  const auto reader = open_trace(params);
  const TraceJob* job = reader->next();  // what the file says of itself comes before it
  if (!reader->errors().empty()) return report_mistakes(reader->errors(), err);
  NativeWriter writer{target, provenance(params, *reader, arguments)};
  for (; job != nullptr && writer.error().empty(); job = reader->next()) writer.add(*job);
  if (!reader->errors().empty()) return report_mistakes(reader->errors(), err);
  if (!writer.finish()) {
    err << writer.error() << "\n";
    return ExitStatus::OutputFailed;
  }
  out << target << ": " << writer.jobs() << " jobs, " << std::filesystem::file_size(target, error)
      << " bytes\n"
      << notes_text(reader->notes());
  return ExitStatus::Ok;
}

}  // namespace

CommandSpec trace_command_spec() {
  return {
      .name = "trace",
      .doc =
          "Says what is in a trace of jobs or requests or in a log of failures (info FILE), or "
          "writes a trace's jobs in the compact native format (convert FILE NEW), filtered by "
          "--set as a scenario would; or makes up a trace like a recorded one (generate SPEC "
          "NEW) as SPEC, a file of YAML, says: see `orrery describe generate`.",
      .positional = "info FILE | convert FILE NEW | generate SPEC NEW",
      .positional_min = 2,
      .positional_max = 3,
      .options = {{"set", 0, "name=value",
                   "Set a parameter of workload.sources.trace, as in queues=[vcA]; of a failure "
                   "log, one of faults.logs.",
                   true},
                  {"lenient", 0, "", "Skip malformed rows and say how many there were."}}};
}

ExitStatus trace_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const std::string& action = arguments.positional[0];
  const bool is_info = action == "info";
  if (!is_info && action != "convert" && action != "generate") {
    throw UsageError{"'trace' can do info, convert and generate, not " + in_quotes(action)};
  }
  if (arguments.positional.size() != (is_info ? 2U : 3U)) {
    throw UsageError{"'trace " + action + "' takes " + (is_info ? "one file" : "two files")};
  }
  if (action == "generate") return trace_generate(arguments, out, err);
  const std::string& file = arguments.positional[1];
  if (is_info && detect_failure_log(file) != FailureLogFormat::Auto) {
    const auto log = read_source_params<FailureLogParams>(file, arguments, err);
    return log ? failure_info(*log, out, err) : ExitStatus::UserMistake;
  }
  const auto params = read_source_params<TraceParams>(file, arguments, err);
  if (!params) return ExitStatus::UserMistake;
  return is_info ? info(*params, out, err)
                 : convert(*params, arguments.positional[2], arguments, out, err);
}

}  // namespace orrery

#include "sim/cli/cli.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <string_view>

#include "sim/cli/describe_command.hpp"
#include "sim/cli/failure.hpp"
#include "sim/cli/outside_command.hpp"
#include "sim/cli/run_command.hpp"
#include "sim/cli/schema_command.hpp"
#include "sim/cli/study/study_command.hpp"
#include "sim/cli/trace_command.hpp"
#include "sim/cli/validate_command.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/core/printable.hpp"

namespace orrery {
namespace {

struct Command {
  CommandSpec (*spec)();
  ExitStatus (*run)(const Arguments&, std::ostream&, std::ostream&);
};

constexpr std::array<Command, 6> kCommands{{{run_command_spec, run_command},
                                            {validate_command_spec, validate_command},
                                            {describe_command_spec, describe_command},
                                            {schema_command_spec, schema_command},
                                            {trace_command_spec, trace_command},
                                            {study_command_spec, study_command}}};

std::string program_help() {
  std::string text = "Orrery simulates GPU clusters run the Kubernetes way.\n\nUsage:\n";
  for (const Command& command : kCommands) {
    const CommandSpec spec = command.spec();
    text += "  " + usage_line(spec) + "\n      " + spec.doc + "\n";
  }
  for (const OutsideCommand& command : outside_commands()) {
    text += "  orrery ";
    text.append(command.name).append(" ").append(command.usage).append("\n      ");
    text.append(command.doc).append("\n");
  }
  text += "  orrery COMMAND --help\n  orrery --version\n\n";
  text +=
      "Exit status: 0 done, 2 mistake in the command line or its input, 74 output could not be\n"
      "written, 130 stopped by Ctrl-C, 1 mistake in Orrery itself or no memory left.\n";
  return text;
}

ExitStatus run_named(std::string_view name, std::span<const char* const> args, std::ostream& out,
                     std::ostream& err) {
  std::vector<std::string> names{"--help", "--version"};
  for (const Command& command : kCommands) {
    const CommandSpec spec = command.spec();
    names.push_back(spec.name);
    if (spec.name != name) continue;
    try {
      const Arguments arguments = parse_arguments(spec, args);
      if (!arguments.has("help")) return command.run(arguments, out, err);
      out << help_text(spec);
      return ExitStatus::Ok;
    } catch (const UsageError& error) {
      err << error.what() << "\nUsage: " << usage_line(spec) << "\n";
      return ExitStatus::UserMistake;
    }
  }
  for (const OutsideCommand& command : outside_commands()) {
    if (command.name == name) return become_outside(name, args, err);
    names.emplace_back(command.name);
  }
  err << "unknown command " << in_quotes(name) << did_you_mean(std::string{name}, names)
      << "\n'orrery --help' lists the commands\n";
  return ExitStatus::UserMistake;
}

ExitStatus run_command_line(std::span<const char* const> args, std::ostream& out,
                            std::ostream& err) {
  if (args.empty()) {
    err << program_help();
    return ExitStatus::UserMistake;
  }
  const std::string_view first = args.front();
  if (first == "--version") {
    out << "orrery " ORRERY_VERSION "\n";
    return ExitStatus::Ok;
  }
  if (first == "help" && args.size() > 1) {  // the same as COMMAND --help
    const std::array<const char*, 1> help{"--help"};
    return run_named(args[1], help, out, err);
  }
  if (first == "--help" || first == "-h" || first == "help") {
    out << program_help();
    return ExitStatus::Ok;
  }
  return run_named(first, args.subspan(1), out, err);
}

// Whether standard output is a pipe whose reader has closed it.
bool is_reader_gone(const std::ostream& out) {
  pollfd standard_output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return &out == &std::cout && poll(&standard_output, 1, 0) == 1 &&
         (standard_output.revents & POLLERR) != 0;
}

}  // namespace

int run_cli(std::span<const char* const> args, std::ostream& out, std::ostream& err) {
  const PrintableStream printable_out{out}, printable_err{err};
  auto status = ExitStatus::Internal;
  try {
    status = run_command_line(args, out, err);
  } catch (...) {
    const Failure failure = current_failure();
    err << failure.text << "\n";
    status = failure.status;
  }
  out.flush();
  // Output that cannot be written is an error. But a reader may close the pipe early, as in `orrery
  // describe scenario | head`.
  if (status == ExitStatus::Ok && !out.good() && !is_reader_gone(out)) {
    err << "standard output cannot be written\n";
    status = ExitStatus::OutputFailed;
  }
  return static_cast<int>(status);
}

}  // namespace orrery

#include "sim/cli/arguments.hpp"

#include <boost/program_options.hpp>
#include <limits>

#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

namespace po = boost::program_options;

constexpr const char* kPositional = "positional arguments";

std::string boost_name(const OptionSpec& option) {
  return option.letter == 0 ? option.name : option.name + "," + option.letter;
}

po::options_description described(const CommandSpec& command) {
  po::options_description options{"Options"};
  for (const OptionSpec& option : command.options) {
    if (option.value.empty()) {
      options.add_options()(boost_name(option).c_str(), option.doc.c_str());
      continue;
    }
    auto* const value = po::value<std::vector<std::string>>()->value_name(option.value);
    if (option.may_repeat) value->composing();
    options.add_options()(boost_name(option).c_str(), value, option.doc.c_str());
  }
  options.add_options()("help,h", "Show this help.");
  return options;
}

std::vector<std::string> option_names(const CommandSpec& command) {
  std::vector<std::string> names{"--help"};
  for (const OptionSpec& option : command.options) names.push_back("--" + option.name);
  return names;
}

// Suggests an option that begins with `wrong` or, if there is none, one with a similar name.
// Example: "; did you mean '--output'?" for --out.
std::string nearest(const std::string& wrong, const std::vector<std::string>& known) {
  for (const std::string& name : known) {
    if (wrong.size() > 2 && name.starts_with(wrong)) return "; did you mean '" + name + "'?";
  }
  return did_you_mean(wrong, known);
}

// Splits the arguments into options and positional ones. The message about an unknown option is
// Orrery's, with a suggestion; all other messages are Boost's.
po::parsed_options parse(const CommandSpec& command, std::span<const char* const> args) {
  po::options_description options = described(command);
  options.add_options()(kPositional, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(kPositional, -1);
  using namespace po::command_line_style;
  const std::vector<std::string> words{args.begin(), args.end()};
  try {
    return po::command_line_parser{words}
        .options(options)
        .positional(positional)
        .style(unix_style & ~allow_guessing)
        .run();
  } catch (const po::unknown_option& error) {
    const std::string name = error.get_option_name();
    throw UsageError{"unknown option " + in_quotes(name) + nearest(name, option_names(command))};
  } catch (const po::error& error) {
    throw UsageError{error.what()};
  }
}

void check_counts(const CommandSpec& command, const Arguments& arguments) {
  for (const OptionSpec& option : command.options) {
    if (!option.may_repeat && arguments.all(option.name).size() > 1) {
      throw UsageError{"--" + option.name + " is given more than once"};
    }
  }
  if (arguments.positional.size() < command.positional_min) {
    throw UsageError{"'" + command.name + "' needs " + command.positional};
  }
  if (arguments.positional.size() > command.positional_max) {
    throw UsageError{"'" + command.name + "' has no use for " +
                     in_quotes(arguments.positional[command.positional_max])};
  }
}

}  // namespace

std::optional<std::string> Arguments::one(const std::string& name) const {
  const auto found = options.find(name);
  if (found == options.end()) return std::nullopt;
  return found->second.front();
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::vector<std::string>{} : found->second;
}

Arguments parse_arguments(const CommandSpec& command, std::span<const char* const> args) {
  Arguments arguments;
  for (const po::option& option : parse(command, args).options) {
    if (option.position_key >= 0 || option.string_key == kPositional) {
      arguments.positional.insert(arguments.positional.end(), option.value.begin(),
                                  option.value.end());
      continue;
    }
    auto& values = arguments.options[option.string_key];
    values.push_back(option.value.empty() ? "" : option.value.front());
  }
  if (!arguments.has("help")) check_counts(command, arguments);
  return arguments;
}

std::string usage_line(const CommandSpec& command) {
  std::string text = "orrery " + command.name;
  if (!command.positional.empty()) text += " " + command.positional;
  for (const OptionSpec& option : command.options) {
    text += option.letter == 0 ? " [--" + option.name : std::string{" [-"} + option.letter;
    text += (option.value.empty() ? "" : " " + option.value) + "]";
    if (option.may_repeat) text += "...";
  }
  return text;
}

std::string help_text(const CommandSpec& command) {
  std::string text = "Usage: " + usage_line(command) + "\n\n" + command.doc + "\n\nOptions:\n";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const OptionSpec& option : command.options) {
    std::string left = option.letter == 0 ? "    " : std::string{"-"} + option.letter + ", ";
    left += "--" + option.name + (option.value.empty() ? "" : " " + option.value);
    rows.emplace_back(left, option.doc);
  }
  rows.emplace_back("-h, --help", "Show this help.");
  size_t width = 0;
  for (const auto& [left, doc] : rows) width = std::max(width, left.size());
  for (const auto& [left, doc] : rows) {
    text += "  " + left + std::string(width - left.size() + 2, ' ') + doc + "\n";
  }
  return text;
}

}  // namespace orrery

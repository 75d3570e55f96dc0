// Failures of the systems of Los Alamos, 1995 to 2005, as released in LA-UR-05-7318: one row for
// each outage of a node, with its start, its duration and its kind of cause.
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "models/faults/logs/failure_rows.hpp"
#include "models/workload/traces/io/csv.hpp"

namespace orrery::faults {
namespace {

using traces::CsvReader;
using traces::Findings;
using traces::TextSource;

constexpr std::string_view kStartedLong = "Prob Started (mm/dd/yy hh:mm)";
constexpr std::string_view kFixedLong = "Prob Fixed (mm/dd/yy hh:mm)";
enum LanlColumn : size_t { kSystem, kNodes, kNodeNumber, kStarted, kFixed, kDown, kFirstCause };
constexpr std::string_view kCauses[] = {"facilities", "hardware",     "human_error",
                                        "network",    "undetermined", "software"};
constexpr int64_t kNodesMax = 1'000'000;
constexpr size_t kSystemNameMax = 16;
constexpr size_t kSystemsMax = 100;  // names stored for the check of `system`
constexpr int64_t kMinutesMax = 60LL * 24 * 365 * 100;

// Parses the number before `end_mark`, such as a month or a year, and advances past the mark.
std::optional<int> part(std::string_view& text, char end_mark) {
  const size_t end = std::min(text.find(end_mark), text.size());
  int value = 0;
  const auto [last, status] = std::from_chars(text.data(), text.data() + end, value);
  if (status != std::errc{} || last != text.data() + end || value < 0 || end == 0) return {};
  text.remove_prefix(std::min(end + 1, text.size()));
  return value;
}

// Parses "6/21/2005 10:54". Years of two digits: 70 to 99 are 1970 to 1999, and 00 to 69 are 2000
// to 2069.
std::optional<Time> parse_american(std::string_view text) {
  const auto month = part(text, '/');
  const auto day = part(text, '/');
  auto year = part(text, ' ');
  const auto hour = part(text, ':');
  const auto minute = part(text, ':');
  if (!month || !day || !year || !hour || !minute || !text.empty()) return {};
  if (*year < 100) year = *year + (*year < 70 ? 2000 : 1900);
  if (*year < 1970 || *year > 2199 || *month > 12 || *day > 31) return {};
  if (*hour > 23 || *minute > 59) return {};
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return {};
  const int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Time{} + 1_min * ((days * 24 + *hour) * 60 + *minute);
}

class LanlRows final : public FailureRows {
 public:
  LanlRows(TextSource source, Findings& findings, std::string system)
      : csv_{std::move(source), findings}, system_{std::move(system)} {
    const bool is_long = csv_.has_column(kStartedLong);
    const std::string_view columns[] = {"System",
                                        "nodes",
                                        "nodenumz",
                                        is_long ? kStartedLong : "Prob Started",
                                        is_long ? kFixedLong : "Prob Fixed",
                                        "Down Time",
                                        "Facilities",
                                        "Hardware",
                                        "Human Error",
                                        "Network",
                                        "Undetermined",
                                        "Software"};
    csv_.bind(columns);
  }

  const FailureRow* next() override {
    while (csv_.next_row()) {
      const std::string_view system = csv_.short_text(kSystem, kSystemNameMax);
      if (systems_.size() < kSystemsMax) systems_.emplace(system);
      if (!system_.empty() && system != system_) continue;
      if (csv_.is_nothing(kNodeNumber)) {
        csv_.findings().leave_out("the row names no node");
        continue;
      }
      names_nodes_ = true;
      parse();
      if (csv_.row_ok()) return &row_;
    }
    if (!csv_.findings().is_stopped() && !system_.empty()) check_system();
    return nullptr;
  }

 private:
  void check_system() {
    if (!systems_.contains(system_)) {
      std::string text = "system: the log has no system '" + system_ + "', but";
      for (const std::string& known : systems_) text.append(" ").append(known);
      csv_.findings().stop(text);
    } else if (!names_nodes_) {
      csv_.findings().stop("system: no row of system '" + system_ + "' names a node");
    }
  }

  Time instant(LanlColumn column) {
    if (const auto value = parse_american(csv_.text(column))) return *value;
    csv_.wrong(column, "a date and time such as 6/21/2005 10:54");
    return {};
  }

  void parse() {
    row_.system = csv_.text(kSystem);
    row_.system_nodes = csv_.is_nothing(kNodes) ? 0 : csv_.integer(kNodes, 0, kNodesMax);
    name_.assign(row_.system).append("-");
    name_.append(std::to_string(csv_.integer(kNodeNumber, 0, kNodesMax)));
    row_.node = name_;
    row_.start = row_.seen = instant(kStarted);
    parse_length();
    row_.cause = "unknown";
    bool is_named = false;
    for (size_t i = 0; i < std::size(kCauses); ++i) {
      if (csv_.is_nothing(kFirstCause + i)) continue;
      if (is_named) csv_.findings().remark("name several causes; the first is taken");
      if (!is_named) row_.cause = kCauses[i];
      is_named = true;
    }
  }

  void parse_length() {
    row_.length = kUnknownLength;
    std::optional<Duration> between;
    if (!csv_.is_nothing(kFixed)) between = instant(kFixed) - row_.start;
    if (!csv_.is_nothing(kDown)) {
      row_.length = 1_min * csv_.whole(kDown, 0, kMinutesMax);
      if (between && *between != row_.length) {
        csv_.findings().remark(
            "have a fix time that disagrees with their down time; the down time is used");
      }
    } else if (between) {
      if (*between < Duration{}) csv_.wrong(kFixed, "a time not before the start");
      row_.length = *between;
    }
  }

  CsvReader csv_;
  std::string system_;
  std::set<std::string, std::less<>> systems_;
  bool names_nodes_ = false;  // some row of a replayed system names a node
  std::string name_;
  FailureRow row_;
};

}  // namespace

std::unique_ptr<FailureRows> open_lanl(TextSource source, Findings& findings, std::string system) {
  return std::make_unique<LanlRows>(std::move(source), findings, std::move(system));
}

}  // namespace orrery::faults

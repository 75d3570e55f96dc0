#include "models/faults/logs/failure_log.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/faults/logs/failure_rows.hpp"
#include "models/workload/traces/formats/detect.hpp"
#include "models/workload/traces/io/cell.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

using faults::FailureRow;
using faults::FailureRows;
using traces::Findings;
using traces::TextSource;

constexpr Duration kDay = 86400_s;

struct Opened {
  FailureLogFormat format = FailureLogFormat::Auto;
  // Lines before the header, such as the title line of the original LANL file.
  int64_t lines_before = 0;
};

Opened recognise(std::string_view beginning) {
  constexpr int64_t kLinesMax = 64;
  for (int64_t i = 0; i < kLinesMax && !beginning.empty(); ++i) {
    const size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = beginning.substr(0, end);
    const auto has = [&](std::string_view text) {
      return line.find(text) != std::string_view::npos;
    };
    if (has("nodenumz") && has("Prob Started")) return {FailureLogFormat::Lanl, i};
    if (has("location") && has("insert") && has("remove")) return {FailureLogFormat::Titan, i};
    if (line.starts_with('#') && has("event_type") && has("node_id")) {
      return {FailureLogFormat::Fta, 0};
    }
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
  }
  return {};
}

std::unique_ptr<FailureRows> open_rows(const Opened& opened, const FailureLogParams& params,
                                       TextSource source, Findings& findings) {
  if (opened.format == FailureLogFormat::Fta) return faults::open_fta(std::move(source), findings);
  for (int64_t i = 0; i < opened.lines_before; ++i) source.next_line();
  return opened.format == FailureLogFormat::Titan
             ? faults::open_titan(std::move(source), findings)
             : faults::open_lanl(std::move(source), findings, params.system);
}

// Compares names, with runs of digits as numbers: n2 comes before n10.
bool is_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view& text) {
    size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = number(a);
      const std::string_view y = number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

class LogBuilder {
 public:
  LogBuilder(const FailureLogParams& params, Findings& findings)
      : params_{params}, findings_{findings} {}

  // Parses the start and end of the window. Returns false if either is malformed, or if the end is
  // not after the start.
  bool read_window() {
    from_ = instant("window_start", params_.window_start);
    to_ = instant("window_end", params_.window_end);
    if (from_ && to_ && *to_ <= *from_) wrong("window_end", "expected a time after window_start");
    return !findings_.is_stopped();
  }

  void add(const FailureRow& row) {
    ++log_.rows;
    earliest_ = std::min(earliest_, row.seen);
    latest_ = std::max(latest_, row.start);
    if (row.length > Duration{}) latest_ = std::max(latest_, row.start + row.length);
    for (int64_t i = nodes_of(row.system); i < row.system_nodes; ++i) {
      node(std::string{row.system}.append("-").append(std::to_string(i)));
    }
    if (row.system_nodes > 0) {
      int64_t& known = systems_[std::string{row.system}];
      known = std::max(known, row.system_nodes);
    }
    const uint32_t at = node(std::string{row.node});
    if (!row.is_outage) return;
    const auto cause = cause_of(row.cause);
    if (!cause) {
      ++log_.other_causes;
      return;
    }
    if (log_.outages.size() == FailureLog::kOutagesMax) {
      findings_.stop(findings_.file() + ": more than " + std::to_string(FailureLog::kOutagesMax) +
                     " failures: choose a window");
      return;
    }
    log_.outages.push_back({row.start, row.length, at, *cause});
  }

  FailureLog finish(FailureLogFormat format) {
    log_.format = format;
    check_causes();
    if (!findings_.is_stopped()) place_in_time();
    sort_nodes();
    std::ranges::sort(log_.outages, [](const Outage& a, const Outage& b) {
      return std::tie(a.start, a.node, a.length, a.cause) <
             std::tie(b.start, b.node, b.length, b.cause);
    });
    if (!findings_.is_stopped() && log_.outages.empty()) {
      findings_.stop(findings_.file() +
                     ": has no failure to replay (see window_start, window_end and causes)");
    }
    if (!findings_.errors().empty()) log_.error = findings_.errors().front();
    log_.notes = traces::notes_of(findings_);
    log_.skipped_examples = findings_.skipped_examples();
    return std::move(log_);
  }

 private:
  void wrong(std::string_view name, std::string_view what) {
    findings_.stop(std::string{name} + ": " + std::string{what});
  }

  std::optional<Time> instant(std::string_view name, const std::string& text) {
    if (text.empty()) return {};
    const auto value = traces::parse_date_time(text);
    if (!value) {
      wrong(name, "found " + in_quotes(text) +
                      ", expected a date such as 2020-04-01 or 2020-04-01 12:00:00");
    }
    return value;
  }

  int64_t nodes_of(std::string_view system) const {
    const auto found = systems_.find(std::string{system});
    return found == systems_.end() ? 0 : found->second;
  }

  uint32_t node(std::string name) {
    const auto [at, is_new] =
        node_index_.emplace(std::move(name), static_cast<uint32_t>(log_.nodes.size()));
    if (!is_new) return at->second;
    if (log_.nodes.size() == FailureLog::kNodesMax) {
      findings_.stop(findings_.file() + ": names more than " +
                     std::to_string(FailureLog::kNodesMax) + " nodes");
      node_index_.erase(at);
      return 0;
    }
    log_.nodes.push_back(at->first);
    return at->second;
  }

  std::optional<uint32_t> cause_of(std::string_view name) {
    if (std::ranges::find(seen_, name) == seen_.end()) seen_.emplace_back(name);
    if (!params_.causes.empty() && std::ranges::find(params_.causes, name) == params_.causes.end())
      return {};
    const auto found = std::ranges::find(log_.causes, name);
    if (found == log_.causes.end()) {
      log_.causes.emplace_back(name);
      return static_cast<uint32_t>(log_.causes.size() - 1);
    }
    return static_cast<uint32_t>(found - log_.causes.begin());
  }

  // Rejects a requested cause that no failure has, because it is probably a typing mistake.
  void check_causes() {
    if (findings_.is_stopped()) return;
    for (const std::string& cause : params_.causes) {
      if (std::ranges::find(seen_, cause) != seen_.end()) continue;
      wrong("causes", "no failure of " + findings_.file() + " has the cause " + in_quotes(cause) +
                          did_you_mean(cause, seen_));
      return;
    }
  }

  // Converts times of the log to times of the run, and drops outages outside the window. An outage
  // that began before the window keeps only the part after the window's start. If the
  // length of such an outage is unknown, the outage is dropped.
  void place_in_time() {
    if (log_.rows == 0) return;
    const Time zero = from_.value_or(Time{earliest_.ns / kDay.ns * kDay.ns});
    log_.span = std::max(Duration{}, std::min(latest_, to_.value_or(Time::max())) - zero);
    const auto is_left = [&](Outage& outage) {
      const Time end = outage.start + std::max(outage.length, Duration{});
      if (outage.start >= to_.value_or(Time::max())) return false;
      if (outage.start < zero) {
        if (end <= zero) return false;
        outage.length = end - zero;
        outage.start = zero;
      }
      outage.start = Time{} + (outage.start - zero);
      return true;
    };
    const auto gone = std::ranges::remove_if(log_.outages, [&](Outage& o) { return !is_left(o); });
    log_.outside_window = static_cast<int64_t>(gone.size());
    log_.outages.erase(gone.begin(), gone.end());
  }

  void sort_nodes() {
    std::vector<uint32_t> order(log_.nodes.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
      if (is_before(log_.nodes[a], log_.nodes[b])) return true;
      return !is_before(log_.nodes[b], log_.nodes[a]) && log_.nodes[a] < log_.nodes[b];
    });
    std::vector<uint32_t> rank(order.size());
    std::vector<std::string> sorted;
    sorted.reserve(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      sorted.push_back(std::move(log_.nodes[order[i]]));
    }
    log_.nodes = std::move(sorted);
    for (Outage& outage : log_.outages) outage.node = rank[outage.node];
  }

  const FailureLogParams& params_;
  Findings& findings_;
  FailureLog log_;
  std::optional<Time> from_, to_;
  Time earliest_ = Time::max(), latest_;
  // For look-ups only; its order is arbitrary.
  std::unordered_map<std::string, uint32_t> node_index_;
  std::unordered_map<std::string, int64_t> systems_;  // for look-ups only; its order is arbitrary
  std::vector<std::string> seen_;                     // distinct causes in the log
};

FailureLog read(const FailureLogParams& params, std::string_view beginning, TextSource source) {
  Findings findings{{.file = params.file, .errors_max = 1, .is_lenient = params.lenient}};
  LogBuilder builder{params, findings};
  Opened opened = recognise(beginning);
  if (params.format != FailureLogFormat::Auto && params.format != opened.format) {
    opened = {params.format, 0};
  }
  if (source.error()) {
    findings.stop(*source.error());
  } else if (opened.format == FailureLogFormat::Auto) {
    const bool has_text = source.next_line().has_value();
    findings.stop(source.error().value_or(
        params.file + (has_text ? ": the file is of no known format of failure logs (titan, fta, "
                                  "lanl)"
                                : ": found no rows")));
  } else if (!params.system.empty() && opened.format != FailureLogFormat::Lanl) {
    findings.stop("system: only lanl logs hold several systems");
  } else if (builder.read_window()) {
    const auto rows = open_rows(opened, params, std::move(source), findings);
    while (const FailureRow* row = rows->next()) {
      builder.add(*row);
      if (findings.is_stopped()) break;
    }
  }
  return builder.finish(opened.format);
}

}  // namespace

FailureLog read_failure_log(const FailureLogParams& params) {
  return read(params, traces::read_beginning(TextSource::open_file(params.file)),
              TextSource::open_file(params.file));
}

FailureLog read_failure_log_text(const FailureLogParams& params, std::string_view text) {
  return read(params, traces::read_beginning(TextSource::from_memory(text, params.file)),
              TextSource::from_memory(text, params.file));
}

FailureLogFormat detect_failure_log(const std::string& path) {
  return recognise(traces::read_beginning(TextSource::open_file(path))).format;
}

}  // namespace orrery

// event_trace.tab of the Failure Trace Archive: nine fields separated by blanks, one row for each
// period in which a node was either available or unavailable. The ids of platform and node together
// identify a node.
#include <array>
#include <utility>

#include "models/faults/logs/failure_rows.hpp"
#include "models/workload/traces/io/cell.hpp"

namespace orrery::faults {
namespace {

using traces::Findings;
using traces::TextSource;

constexpr std::array<std::string_view, 9> kNames = {
    "event_id",   "component_id",     "node_id",         "platform_id",     "node_name",
    "event_type", "event_start_time", "event_stop_time", "event_end_reason"};
enum Field : size_t { kNode = 2, kPlatform = 3, kType = 5, kStart = 6, kStop = 7 };
constexpr size_t kFieldsMin = kStop + 1;  // event_end_reason may be missing

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class FtaRows final : public FailureRows {
 public:
  FtaRows(TextSource source, Findings& findings)
      : source_{std::move(source)}, findings_{findings} {}

  const FailureRow* next() override {
    while (!findings_.is_stopped()) {
      const auto line = source_.next_line();
      if (!line) {
        if (source_.error()) findings_.stop(*source_.error());
        return nullptr;
      }
      if (split(*line) == 0 || fields_[0].starts_with('#')) continue;
      findings_.start_row(source_.row());
      parse();
      if (findings_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  size_t split(std::string_view line) {
    count_ = 0;
    for (size_t at = 0;;) {
      while (at < line.size() && is_blank(line[at])) ++at;
      if (at == line.size()) return count_;
      const size_t begin = at;
      while (at < line.size() && !is_blank(line[at])) ++at;
      if (count_ < fields_.size()) fields_[count_] = line.substr(begin, at - begin);
      ++count_;
    }
  }

  void wrong(size_t field, std::string_view expected) {
    findings_.wrong_field(field + 1, kNames[field], fields_[field], expected);
  }

  Time instant(size_t field) {
    const auto since_1970 = traces::parse_seconds(fields_[field]);
    if (since_1970 && since_1970->ns >= 0) return Time{since_1970->ns};
    wrong(field, "seconds since 1970");
    return {};
  }

  void parse() {
    if (count_ < kFieldsMin || count_ > kNames.size()) {
      findings_.mistake(": found " + std::to_string(count_) + " fields, expected " +
                        std::to_string(kNames.size()));
      return;
    }
    const std::string_view type = fields_[kType];
    if (type != "0" && type != "1") wrong(kType, "0 (unavailable) or 1 (available)");
    row_.is_outage = type == "0";
    row_.start = row_.seen = instant(kStart);
    row_.length = kUnknownLength;
    if (!traces::is_nothing(fields_[kStop])) {
      const Time stop = instant(kStop);
      if (stop < row_.start) wrong(kStop, "a time not before the start");
      row_.length = stop - row_.start;
    }
    row_.cause = "unavailable";
    for (const Field part : {kNode, kPlatform}) {
      if (fields_[part].size() > kNodeNameMax / 2 - 1) {
        wrong(part, "an id of at most 23 characters");
      }
    }
    name_.assign(fields_[kPlatform]).append("-").append(fields_[kNode]);
    row_.node = name_;
  }

  TextSource source_;
  Findings& findings_;
  std::array<std::string_view, kNames.size()> fields_;
  size_t count_ = 0;
  std::string name_;
  FailureRow row_;
};

}  // namespace

std::unique_ptr<FailureRows> open_fta(TextSource source, Findings& findings) {
  return std::make_unique<FtaRows>(std::move(source), findings);
}

}  // namespace orrery::faults

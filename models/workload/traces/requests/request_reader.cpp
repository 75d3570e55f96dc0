#include "models/workload/traces/requests/request_reader.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/traces/formats/detect.hpp"
#include "models/workload/traces/formats/trace_checks.hpp"
#include "models/workload/traces/requests/request_format.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

using namespace traces;

constexpr const RequestLayout* kLayouts[] = {&request_tables::kAzureLlmLayout, &mooncake::kLayout,
                                             &request_tables::kGenAiLayout, &kNativeRequestLayout,
                                             &genai_rates::kLayout};
constexpr int64_t kNsPerDay = 86'400'000'000'000;

class FileRequestReader final : public RequestReader {
 public:
  FileRequestReader(const RequestTraceParams& params, TextSource beginning, TextSource source)
      : params_{params},
        findings_{{.file = params.file, .errors_max = 1, .is_lenient = params.lenient}},
        group_seen_(params.groups.size()) {
    layout_ = find_request_layout(read_beginning(std::move(beginning)), params.format);
    if (layout_ == nullptr) {
      findings_.stop(source.error().value_or(
          params.file +
          ": the file is of no known request format (azure_llm, mooncake, genai, "
          "native_requests, genai_rates)"));
      return;
    }
    check_params();
    if (findings_.is_stopped()) return;
    parser_ = layout_->open({std::move(source), findings_, pool_});
  }

  const RequestRow* next() override {
    // After an error no row is returned, not even a row that the parser has read ahead.
    if (has_enough() || findings_.is_stopped()) return nullptr;
    if (copies_left_ > 0) {
      --copies_left_;
      ++counts_.delivered;
      return row_;
    }
    while ((row_ = parser_ ? parser_->next() : nullptr) != nullptr && !findings_.is_stopped()) {
      if (row_->arrival < last_) {
        findings_.mistake(": the request arrived before the one above it");
        continue;
      }
      last_ = row_->arrival;
      // In a trace with dates, time 0 is the midnight before the first request. So the hours of the
      // day keep their meaning.
      if (!zero_) zero_ = Time{layout_->has_dates ? row_->arrival.ns / kNsPerDay * kNsPerDay : 0};
      if (!is_wanted(*row_)) continue;
      row_->arrival = rebased(row_->arrival);
      copies_left_ = params_.copies - 1;
      ++counts_.delivered;
      return row_;
    }
    check_groups();
    return nullptr;
  }
  const std::vector<std::string>& errors() const override { return findings_.errors(); }
  RequestCounts counts() const override {
    RequestCounts counts = counts_;
    counts.rows = findings_.rows();
    for (const Findings::Count& count : findings_.left_out()) counts.left_out += count.rows;
    counts.skipped = findings_.skipped();
    return counts;
  }
  std::vector<TraceNote> notes() const override { return notes_of(findings_); }
  const std::vector<std::string>& skipped_examples() const override {
    return findings_.skipped_examples();
  }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    if (!parser_) return {};
    return {parser_->facts().begin(), parser_->facts().end()};
  }
  RequestFormat format() const override { return layout_ ? layout_->id : RequestFormat::Auto; }

 private:
  bool has_enough() const {
    return params_.requests_max > 0 && counts_.delivered >= params_.requests_max;
  }
  void check_params();
  bool is_wanted(const RequestRow& row);
  void check_groups();
  Time rebased(Time arrival) const {
    const Duration since = arrival - *zero_;
    if (params_.time_scale == 1) return Time{since.ns};
    return Time{} + nearest_ns(since.seconds() * params_.time_scale);
  }

  RequestTraceParams params_;
  Findings findings_;
  StringPool pool_;
  const RequestLayout* layout_ = nullptr;
  std::unique_ptr<RequestParser> parser_;
  RequestRow* row_ = nullptr;  // the parser's last row
  std::optional<Time> window_start_, window_end_;
  std::optional<Time> zero_;  // time in the trace at which the replay starts
  Time last_;                 // arrival of the last row, on the trace's clock
  std::vector<bool> group_seen_;
  int32_t copies_left_ = 0;
  RequestCounts counts_;
};

void FileRequestReader::check_params() {
  const std::string trace = "a trace of format " + std::string{name_of(layout_->id)};
  if (!params_.groups.empty() && !layout_->has_groups) {
    findings_.stop("groups: " + trace + " names no groups");
  }
  if (!params_.statuses.empty() && !layout_->has_statuses) {
    findings_.stop("statuses: " + trace + " does not say how requests ended");
  }
  const Clock clock = layout_->has_dates ? Clock::Dates : Clock::Seconds;
  const Instant start = parse_instant("window_start", params_.window_start, clock);
  const Instant end = parse_instant("window_end", params_.window_end, clock);
  for (const Instant& instant : {start, end}) {
    if (!instant.mistake.empty()) findings_.stop(instant.mistake);
  }
  if (start.at && end.at && *end.at <= *start.at) {
    findings_.stop("window_end: expected a time after window_start");
  }
  window_start_ = zero_ = start.at;
  window_end_ = end.at;
}

bool FileRequestReader::is_wanted(const RequestRow& row) {
  if ((window_start_ && row.arrival < *window_start_) ||
      (window_end_ && row.arrival >= *window_end_)) {
    ++counts_.outside_window;
    return false;
  }
  const auto group = std::ranges::find(params_.groups, row.group);
  if (!params_.groups.empty() && group == params_.groups.end()) {
    ++counts_.other_group;
    return false;
  }
  if (!params_.groups.empty()) {
    group_seen_[static_cast<size_t>(group - params_.groups.begin())] = true;
  }
  if (!params_.statuses.empty() &&
      std::ranges::find(params_.statuses, row.status) == params_.statuses.end()) {
    ++counts_.other_status;
    return false;
  }
  return true;
}

// A group without a request in the window is an error: its name is probably misspelt.
void FileRequestReader::check_groups() {
  if (!findings_.errors().empty()) return;
  for (size_t i = 0; i < group_seen_.size(); ++i) {
    // If `groups` names a group twice, only the first entry is marked in group_seen_.
    const auto first = std::ranges::find(params_.groups, params_.groups[i]);
    if (group_seen_[static_cast<size_t>(first - params_.groups.begin())]) continue;
    findings_.stop("groups: no request of " + findings_.file() + " in the window is of group " +
                   in_quotes(params_.groups[i]));
    return;
  }
}

}  // namespace

const RequestLayout* traces::find_request_layout(std::string_view beginning, RequestFormat wanted) {
  for (const RequestLayout* layout : kLayouts) {
    if (wanted == RequestFormat::Auto ? layout->looks_like(beginning) : layout->id == wanted) {
      return layout;
    }
  }
  return nullptr;
}

std::unique_ptr<RequestReader> open_requests(const RequestTraceParams& params) {
  return std::make_unique<FileRequestReader>(params, TextSource::open_file(params.file),
                                             TextSource::open_file(params.file));
}

std::unique_ptr<RequestReader> open_requests_text(const RequestTraceParams& params,
                                                  std::string_view text) {
  return std::make_unique<FileRequestReader>(params, TextSource::from_memory(text, params.file),
                                             TextSource::from_memory(text, params.file));
}

RequestFormat detect_requests(const std::string& file) {
  const RequestLayout* const layout =
      find_request_layout(read_beginning(TextSource::open_file(file)), RequestFormat::Auto);
  return layout == nullptr ? RequestFormat::Auto : layout->id;
}

}  // namespace orrery

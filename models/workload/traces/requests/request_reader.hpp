// models/workload/traces/requests/request_reader.hpp -- requests of an inference trace, in the
// order of arrival.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/workload/traces/requests/request_row.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "sim/config/options.hpp"

namespace orrery {

enum class RequestFormat : uint8_t { Auto, AzureLlm, Mooncake, GenAi, Native, GenAiRates };
constexpr std::array<std::string_view, 6> enum_names(RequestFormat) {
  return {"auto", "azure_llm", "mooncake", "genai", "native_requests", "genai_rates"};
}

struct RequestTraceParams {
  static constexpr std::string_view kDoc =
      "Requests recorded by an inference service, for `orrery trace info` and `trace convert`.";

  std::string file{};
  RequestFormat format = RequestFormat::Auto;
  std::string window_start{};
  std::string window_end{};
  std::vector<std::string> groups{};
  std::vector<TraceStatus> statuses{};
  double time_scale = 1;
  int32_t copies = 1;
  int64_t requests_max = 0;
  bool lenient = false;

  template <class V>
  void fields(V& v) {
    v("file", file, "The trace: plain, gzip or xz, possibly as the only file of a tar archive.",
      Required{}, Example{"requests.csv.gz"});
    v("format", format, "Format of the file; auto: recognised by its first lines.");
    v("window_start", window_start,
      "Requests that arrive before this time are left out, and arrivals are counted from this "
      "time. If the trace has dates, this is a date and time, else seconds on the trace's clock. "
      "Empty: 0:00 of the first day if the trace has dates, else 0.",
      Example{"2023-11-16 18:20:00"});
    v("window_end", window_end,
      "Requests that arrive at this time or later are left out. Empty: no limit.");
    v("groups", groups,
      "Keep only requests of these groups; empty: all. The group of a request is its groupId in "
      "genai, its container_ip in genai_rates, and the stored group in native_requests.");
    v("statuses", statuses, "Keep only requests with these outcomes; empty: all.",
      Example{"[completed]"});
    v("time_scale", time_scale, "Factor on the times between arrivals; 0.5 doubles the load.",
      Range{0.001, 1000.0});
    v("copies", copies,
      "How many times each request arrives. All copies arrive at the same instant.",
      Range{1, 1000});
    v("requests_max", requests_max, "Stop after this many requests; 0: all.", Unit{"requests"},
      Range{int64_t{0}, int64_t{1'000'000'000'000}});
    v("lenient", lenient,
      "true: skip malformed rows and report how many there were. false: the first malformed row "
      "ends the run.");
  }
};

// At the end of a file every row is counted once: rows = skipped + left out + filtered + delivered
// / copies. This does not hold for genai_rates, where one row becomes any number of requests.
struct RequestCounts {
  int64_t rows = 0;  // rows read, whatever became of them
  int64_t delivered = 0;
  int64_t left_out = 0;  // well-formed rows that are no requests by the format's rules
  int64_t outside_window = 0, other_group = 0, other_status = 0;
  int64_t skipped = 0;  // malformed rows, skipped because of `lenient`

  int64_t filtered() const { return outside_window + other_group + other_status; }
};

// The trace is streamed. A reader never throws. If the file cannot be opened, or a row is malformed
// and `lenient` is false, the reader ends early and has an error. A row whose request arrives
// before the request in the row above counts as malformed.
class RequestReader {
 public:
  virtual ~RequestReader() = default;
  // The next request, valid until the next call; null at the end and after an error.
  virtual const RequestRow* next() = 0;
  virtual const std::vector<std::string>& errors() const = 0;
  virtual RequestCounts counts() const = 0;
  virtual std::vector<TraceNote> notes() const = 0;
  // Messages about the first malformed rows that were skipped.
  virtual const std::vector<std::string>& skipped_examples() const = 0;
  // Facts stated in the file, as pairs of a key and a value.
  virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
  virtual RequestFormat format() const = 0;  // Auto if the file was not recognised

  std::optional<std::string> error() const {
    return errors().empty() ? std::nullopt : std::optional{errors().front()};
  }
};

// Never returns null.
std::unique_ptr<RequestReader> open_requests(const RequestTraceParams& params);
// Reads text in memory, which must outlive the reader.
std::unique_ptr<RequestReader> open_requests_text(const RequestTraceParams& params,
                                                  std::string_view text);
// Returns the format of a file by its first lines; Auto if the file is unreadable, or in no known
// format of requests.
RequestFormat detect_requests(const std::string& file);

}  // namespace orrery

// models/workload/traces/request_reader.hpp -- requests out of an inference trace, in its order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/request_row.hpp"
#include "models/workload/traces/trace_reader.hpp"
#include "sim/config/options.hpp"

namespace orrery {

enum class RequestFormat : uint8_t { Auto, AzureLlm, Mooncake, GenAi };
constexpr std::array<std::string_view, 4> enum_names(RequestFormat) {
  return {"auto", "azure_llm", "mooncake", "genai"};
}

struct RequestTraceParams {
  static constexpr std::string_view kDoc = "Replays requests recorded by an inference service.";

  std::string file{};
  RequestFormat format = RequestFormat::Auto;
  bool lenient = false;

  template <class V>
  void fields(V& v) {
    v("file", file, "The trace, plain, gzip or xz.", Required{}, Example{"requests.csv.gz"});
    v("format", format, "Layout of the file; auto goes by its first lines.");
    v("lenient", lenient,
      "Skip malformed rows and report how many there were; otherwise the first one ends the run.");
  }
};

// Streams; never throws. A reader that could not open its file, or met a wrong row, ends early and
// has an error. Arrivals never go back: a row that does is a mistake.
class RequestReader {
 public:
  virtual ~RequestReader() = default;
  // Valid until the next call; null at the end and after an error.
  virtual const RequestRow* next() = 0;
  virtual const std::vector<std::string>& errors() const = 0;
  virtual std::vector<TraceNote> notes() const = 0;
  virtual int64_t skipped() const = 0;
  virtual RequestFormat format() const = 0;  // Auto when the file was not recognised

  std::optional<std::string> error() const {
    return errors().empty() ? std::nullopt : std::optional{errors().front()};
  }
};

// Never null.
std::unique_ptr<RequestReader> open_requests(const RequestTraceParams& params);
// The same for text in memory, which must outlive the reader.
std::unique_ptr<RequestReader> open_requests_text(const RequestTraceParams& params,
                                                  std::string_view text);

}  // namespace orrery

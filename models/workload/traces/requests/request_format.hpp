// models/workload/traces/requests/request_format.hpp -- parsers and properties of request traces.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/workload/traces/io/findings.hpp"
#include "models/workload/traces/io/string_pool.hpp"
#include "models/workload/traces/io/text_source.hpp"
#include "models/workload/traces/requests/request_reader.hpp"

namespace orrery::traces {

class RequestParser {
 public:
  using Fact = std::pair<std::string, std::string>;

  virtual ~RequestParser() = default;
  // The next well-formed row, with its arrival on the trace's clock. Null at the end, or once
  // `Findings` has stopped the reading.
  virtual RequestRow* next() = 0;
  // Facts stated in the file, as pairs of a key and a value.
  virtual std::span<const Fact> facts() const { return {}; }
};

struct RequestInput {
  TextSource source;
  Findings& findings;  // must outlive the parser, as must the pool
  StringPool& pool;
};

struct RequestLayout {
  RequestFormat id;
  std::unique_ptr<RequestParser> (*open)(RequestInput input);
  bool (*looks_like)(std::string_view beginning);
  bool has_dates = false;
  bool has_groups = false;
  bool has_statuses = false;
};
constexpr int64_t kPrefixBlocksMax = 1'000'000;  // limit for one request

namespace request_tables {
extern const RequestLayout kAzureLlmLayout;
extern const RequestLayout kGenAiLayout;
}  // namespace request_tables
namespace mooncake {
extern const RequestLayout kLayout;
}
namespace genai_rates {
extern const RequestLayout kLayout;
}
extern const RequestLayout kNativeRequestLayout;

// Returns the layout `wanted` or, for Auto, the layout that matches the beginning of the file. Null
// if no layout matches.
const RequestLayout* find_request_layout(std::string_view beginning, RequestFormat wanted);

}  // namespace orrery::traces

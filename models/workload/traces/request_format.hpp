// models/workload/traces/request_format.hpp -- what the readers must know of each request trace.
#pragma once

#include <memory>
#include <string_view>

#include "models/workload/traces/findings.hpp"
#include "models/workload/traces/request_reader.hpp"
#include "models/workload/traces/string_pool.hpp"
#include "models/workload/traces/text_source.hpp"

namespace orrery::traces {

class RequestParser {
 public:
  virtual ~RequestParser() = default;
  // The next well-formed row, its arrival as the trace counts it; null at the end, or when the
  // findings are stopped.
  virtual RequestRow* next() = 0;
};

struct RequestInput {
  TextSource source;
  Findings& findings;  // outlives the parser, as the pool does
  StringPool& pool;
};

struct RequestLayout {
  RequestFormat id;
  std::unique_ptr<RequestParser> (*open)(RequestInput input);
  bool (*looks_like)(std::string_view beginning);
  bool has_dates;
};

extern const RequestLayout kAzureLlmLayout;
extern const RequestLayout kMooncakeLayout;
extern const RequestLayout kGenAiLayout;

}  // namespace orrery::traces

#include "models/workload/traces/tables/throughputs.hpp"

#include <charconv>

#include "models/workload/traces/io/json_tokens.hpp"

namespace orrery::traces {
namespace {

using Kind = JsonTokens::Kind;

// The key null has the throughput of a job that does not share its GPUs. Throughputs of pairs of
// jobs that share GPUs are skipped.
double read_alone(JsonTokens& tokens) {
  double alone = 0;
  for (Kind kind = tokens.next(); kind == Kind::Key; kind = tokens.next()) {
    const bool is_alone = tokens.text() == "null";
    const Kind value = tokens.next();
    if (is_alone && value == Kind::Number) {
      const std::string_view text = tokens.text();
      std::from_chars(text.data(), text.data() + text.size(), alone);
    }
    tokens.skip(value);
  }
  return alone;
}

Throughputs::ByJob read_gpu(JsonTokens& tokens) {
  Throughputs::ByJob by_job;
  for (Kind type = tokens.next(); type == Kind::Key; type = tokens.next()) {
    std::string key{tokens.text()};
    const Kind pairs = tokens.next();
    const double alone = pairs == Kind::BeginObject ? read_alone(tokens) : 0;
    if (pairs == Kind::BeginArray) tokens.skip(pairs);
    if (alone > 0) by_job.emplace(std::move(key), alone);
  }
  return by_job;
}

}  // namespace

Throughputs read_throughputs(TextSource source) {
  JsonTokens tokens{std::move(source)};
  Throughputs throughputs;
  if (tokens.next() == Kind::BeginObject) {
    for (Kind kind = tokens.next(); kind == Kind::Key; kind = tokens.next()) {
      std::string gpu{tokens.text()};
      const Kind value = tokens.next();
      if (value == Kind::BeginObject) {
        throughputs.by_gpu.emplace(std::move(gpu), read_gpu(tokens));
      } else {
        tokens.skip(value);
      }
    }
  }
  throughputs.error = tokens.error();
  return throughputs;
}

}  // namespace orrery::traces

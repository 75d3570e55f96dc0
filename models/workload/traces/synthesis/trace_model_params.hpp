// models/workload/traces/synthesis/trace_model_params.hpp -- the trace to imitate, and the size of
// the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/workload/traces/formats/trace_params.hpp"
#include "sim/config/options.hpp"

namespace orrery {

struct TraceModelParams {
  static constexpr std::string_view kDoc = "A synthetic trace that resembles a recorded one.";

  TraceParams trace = {};
  double load = 1;
  std::optional<Duration> span = {};
  int64_t jobs_max = 0;
  uint64_t seed = 1;

  template <class V>
  void fields(V& v) {
    v("trace", trace,
      "The recorded trace to imitate. Parameters of this map select a part of the trace.",
      Required{});
    v("load", load, "Factor on the rate of arrivals; 2 doubles the load.", Range{0.001, 1000.0});
    v("span", span,
      "Length of the synthetic trace from its first arrival; absent: that of the recorded trace.",
      Range{1_s, Duration::max()});
    v("jobs_max", jobs_max, "Maximum number of jobs; 0: no limit, so the span determines the end.",
      Unit{"jobs"}, Range{int64_t{0}, int64_t{1'000'000'000}});
    v("seed", seed, "Seed of all random streams. The same trace and seed give the same jobs.");
  }
};

}  // namespace orrery

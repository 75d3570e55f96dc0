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
    v("trace", trace, "The trace to imitate, or a part of it.", Required{});
    v("load", load, "Factor on the rate of arrivals.", Range{0.001, 1000.0});
    v("span", span, "From the first arrival to the end; absent: as long as the trace's.",
      Range{1_s, Duration::max()});
    v("jobs_max", jobs_max,
      "Stop after so many jobs, if the span has not ended before; 0: at the end of the span.",
      Unit{"jobs"}, Range{int64_t{0}, int64_t{1'000'000'000}});
    v("seed", seed, "Of all random streams. Same trace and seed, same jobs.");
  }
};

}  // namespace orrery

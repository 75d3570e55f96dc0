// models/workload/traces/trace_params.hpp -- which trace to replay, and which part of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// Auto: by the names in the header.
enum class TraceFormat : uint8_t { Auto, Openb, Helios, HeliosDerived, HeliosCanonical };
constexpr std::array<std::string_view, 5> enum_names(TraceFormat) {
  return {"auto", "openb", "helios", "helios_derived", "helios_canonical"};
}

// When a job enters the run: when it was submitted, or when its cluster started it.
enum class TraceArrival : uint8_t { Submit, Start };
constexpr std::array<std::string_view, 2> enum_names(TraceArrival) { return {"submit", "start"}; }

// Window: rows may be out of order by a few thousand rows. All: the whole file is read before the
// first job, 200 bytes a job. Auto: all for openb, whose variants are not sorted, else window.
enum class TraceSort : uint8_t { Auto, Window, All };
constexpr std::array<std::string_view, 3> enum_names(TraceSort) {
  return {"auto", "window", "all"};
}

struct TraceParams {
  std::string file{};
  TraceFormat format = TraceFormat::Auto;
  std::vector<std::string> queues{};  // empty: all
  std::string window_start{};
  std::string window_end{};
  bool warm_start = true;
  bool gpu_jobs_only = false;
  bool pending_jobs = true;
  TraceArrival arrive_at = TraceArrival::Submit;
  TraceSort sort = TraceSort::Auto;
  double time_scale = 1;
  int64_t jobs_max = 0;
};

}  // namespace orrery

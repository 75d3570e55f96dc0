// models/workload/traces/formats/trace_job.hpp -- one job of a trace, independent of its format.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

// Outcome of the job. Running and Pending: the job had not ended when the recording stopped.
enum class TraceStatus : uint8_t {
  Completed,
  Cancelled,
  Failed,
  Timeout,
  NodeFail,
  Running,
  Pending,
  Unknown
};
constexpr std::array<std::string_view, 8> enum_names(TraceStatus) {
  return {"completed", "cancelled", "failed",  "timeout",
          "node_fail", "running",   "pending", "unknown"};
}

// Normal if the trace has no priorities.
enum class TracePriority : uint8_t { Low, Normal, High };
constexpr std::array<std::string_view, 3> enum_names(TracePriority) {
  return {"low", "normal", "high"};
}

// The job's name in the trace, stored inside the job.
class TraceName {
 public:
  static constexpr size_t kMax = 63;
  constexpr TraceName() = default;
  constexpr explicit TraceName(std::string_view text)
      : length_{static_cast<uint8_t>(std::min(text.size(), kMax))} {
    std::copy_n(text.begin(), length_, bytes_.begin());
  }
  constexpr std::string_view view() const { return {bytes_.data(), length_}; }

 private:
  std::array<char, kMax> bytes_{};
  uint8_t length_ = 0;
};

// All pods are equal, except that the last pod may request fewer GPUs. The string_views are
// valid as long as the reader exists.
struct TraceJob {
  static constexpr Duration kUnknownWait{-1};
  static constexpr Duration kUnknown{-1};
  static constexpr int64_t kNone = -1;

  int64_t id = 0;   // the number in its name, or a hash of the name
  int64_t row = 0;  // number of its row in the file, from 1, for messages
  Time submit;      // from the start of the run
  Duration duration;
  Duration wait_recorded = kUnknownWait;
  Duration requested_time = kUnknown;   // the user's estimate of the duration, or its limit
  Duration deadline = kUnknown;         // from the submission
  Duration cancelled_after = kUnknown;  // from the submission, for jobs that never started
  int64_t after = kNone;                // id of the preceding job, whose end the user awaited
  Duration think_time = kUnknown;       // from the end of the preceding job to the submission
  int32_t pods = 1;
  int32_t gpus_per_pod = 0;
  int32_t gpus_last_pod = 0;      // equals gpus_per_pod unless the GPUs do not divide evenly
  int32_t gpu_milli = 1000;       // requested share of each GPU; 1000 is a whole GPU
  int64_t cpu_milli_per_pod = 0;  // 0: unknown
  Bytes memory_per_pod;           // 0: unknown
  std::string_view user;
  std::string_view group;
  std::string_view queue;
  std::string_view application;  // a model, a program or a type of work
  std::string_view gpu_models;   // "A|B": A or B; empty: any
  std::string_view node;         // recorded node of a job of one pod; empty: any
  TracePriority priority = TracePriority::Normal;
  TraceStatus status = TraceStatus::Unknown;
  TraceName name;

  int64_t gpus() const { return int64_t{gpus_per_pod} * (pods - 1) + gpus_last_pod; }
  int64_t cpu_milli() const { return cpu_milli_per_pod * pods; }
  bool overran() const { return requested_time > Duration{} && duration > requested_time; }
  int64_t gpu_milli_total() const { return gpus() * gpu_milli; }
};

}  // namespace orrery

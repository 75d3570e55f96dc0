// models/workload/traces/synthesis/trace_model.hpp -- a statistical model of a trace, and traces
// drawn from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"
#include "models/workload/traces/io/string_pool.hpp"
#include "models/workload/traces/synthesis/quantiles.hpp"
#include "models/workload/traces/synthesis/trace_model_params.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

// The gap to the next arrival is drawn from the gaps that began in the same hour of the week. (In
// the same hour of the day, if the trace is shorter than two weeks or has fewer than 3,360 jobs.)
// This reproduces bursts and daily patterns. With probability user_repeats() a job has the
// user of the job before it, so that repeats are as frequent as in the trace. Otherwise a user is
// drawn with a probability equal to the user's share of the jobs. The request is drawn from the
// user's requests. Duration and outcome are drawn from jobs of the same size_class(). Waits,
// requested times, deadlines and preceding jobs (TraceJob::after) are not modelled.
class TraceModel {
 public:
  void add(const TraceJob& job);
  void fit();  // call after the last add()
  int64_t jobs() const { return static_cast<int64_t>(submits_.size()); }
  Duration span() const {
    return submits_.empty() ? Duration{} : submits_.back() - submits_.front();
  }
  double user_repeats() const { return user_repeats_; }

 private:
  friend class ModelledTrace;
  // What a job requests. Jobs with equal requests share one Shape.
  struct Shape {
    int32_t pods, gpus_per_pod, gpus_last_pod, gpu_milli;
    int64_t cpu_milli_per_pod;
    Bytes memory_per_pod;
    TracePriority priority;
    std::string_view group, queue, application, gpu_models;
    auto operator<=>(const Shape&) const = default;
  };
  // Indices to draw from, with cumulative numbers of jobs as weights. Example: 3 jobs have index 4,
  // and 2 have index 7; then `indices` is {4, 7}, and `until` is {3, 5}.
  struct Drawn {
    std::vector<uint32_t> indices;
    std::vector<int64_t> until;
    uint32_t draw(Rng& rng) const;
  };
  static int size_class(const TraceJob& job);
  void fit_gaps();
  size_t hour_of(Time at, size_t hours) const;
  std::string_view kept(std::string_view text);

  traces::StringPool pool_;
  std::vector<Time> submits_;
  std::map<Shape, uint32_t> shape_index_;
  std::vector<Shape> shapes_;
  std::map<std::string_view, uint32_t> user_index_;
  std::vector<std::string_view> users_;
  std::vector<int64_t> user_jobs_;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> user_shapes_;  // jobs by user and shape
  std::map<int, std::vector<double>> durations_;                  // seconds, by size class
  std::map<int, std::map<TraceStatus, int64_t>> statuses_;
  // Clock resolution of arrivals: 1 s, or 1 ns if any arrival has a fraction of a second.
  Duration tick_ = 1_s;
  Duration duration_tick_ = 1_s;
  int64_t same_user_ = 0;  // jobs with the same user as the job before
  uint32_t last_user_ = 0;

  // Seconds between arrivals, by the hour in which the gap began: an hour of the week if the trace
  // is long, else of the day.
  std::vector<std::optional<traces::Quantiles>> gaps_;
  double user_repeats_ = 0;
  Drawn by_user_;
  std::vector<Drawn> shapes_of_;  // by user
  std::map<int, traces::Quantiles> duration_of_;
  std::map<int, Drawn> status_of_;
};

// Draws jobs from a fitted model. The model must outlive this object.
class ModelledTrace {
 public:
  ModelledTrace(const TraceModel& model, const TraceModelParams& params);
  const TraceJob* next();  // valid until the next call; null at the end

 private:
  Time next_arrival();

  const TraceModel& model_;
  TraceModelParams params_;
  Rng arrival_, user_, shape_, duration_, status_;
  Time exact_;  // last arrival, not rounded down to a tick
  Time end_;
  uint32_t last_user_ = 0;
  TraceJob job_;
};

}  // namespace orrery

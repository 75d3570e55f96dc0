// models/workload/traces/synthesis/trace_model.hpp -- a trace taken apart into what it can be made
// again from.
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

// The gap to the next arrival is drawn from those that began in the same hour of the week (of the
// day, where the trace is shorter than two weeks or has few jobs), so both bursts and the pattern
// of the days are kept. A job's user is drawn by share, or, as often as more than chance was seen,
// is that of the job before. What a job asks for is drawn from what its user asked for; how long it
// runs and how it ends, from the jobs of its size, by powers of two. Not imitated: waits, requested
// times, deadlines and chains of jobs.
class TraceModel {
 public:
  void add(const TraceJob& job);
  void fit();  // after the last add()
  int64_t jobs() const { return static_cast<int64_t>(submits_.size()); }
  Duration span() const {
    return submits_.empty() ? Duration{} : submits_.back() - submits_.front();
  }
  double user_repeats() const { return user_repeats_; }

 private:
  friend class ModelledTrace;
  // All that a job asks for, alike in many jobs.
  struct Shape {
    int32_t pods, gpus_per_pod, gpus_last_pod, gpu_milli;
    int64_t cpu_milli_per_pod;
    Bytes memory_per_pod;
    TracePriority priority;
    std::string_view group, queue, application, gpu_models;
    auto operator<=>(const Shape&) const = default;
  };
  struct Drawn {  // indices with how many jobs there were up to and with each
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
  std::map<int, std::vector<double>> durations_;                  // by size class; s
  std::map<int, std::map<TraceStatus, int64_t>> statuses_;
  Duration tick_ = 1_s;  // of arrivals: a second, or a nanosecond if one of them has a fraction
  Duration duration_tick_ = 1_s;
  int64_t same_user_ = 0;  // jobs whose user is that of the job before
  uint32_t last_user_ = 0;

  std::vector<std::optional<traces::Quantiles>> gaps_;  // s, by the hour in which they began
  double user_repeats_ = 0;
  Drawn by_user_;
  std::vector<Drawn> shapes_of_;  // by user
  std::map<int, traces::Quantiles> duration_of_;
  std::map<int, Drawn> status_of_;
};

// Draws jobs of a model that was fitted; it must outlive this.
class ModelledTrace {
 public:
  ModelledTrace(const TraceModel& model, const TraceModelParams& params);
  const TraceJob* next();  // valid until the next call; null at the end

 private:
  Time next_arrival();

  const TraceModel& model_;
  TraceModelParams params_;
  Rng arrival_, user_, shape_, duration_, status_;
  Time exact_;  // of the last arrival
  Time end_;
  uint32_t last_user_ = 0;
  TraceJob job_;
};

}  // namespace orrery

// models/workload/pod_params.hpp -- what pods ask for and how jobs train, as a scenario says it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/storage/dataset_params.hpp"
#include "models/workload/job.hpp"
#include "models/workload/pod_constraint_params.hpp"
#include "models/workload/training/checkpoint_params.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "models/workload/training/training_step_params.hpp"
#include "sim/config/options.hpp"

namespace orrery {

constexpr Range kPriorities{-1'000'000'000, 2'000'000'000};

struct PodParams : PodConstraintParams {
  static constexpr std::string_view kDoc = "What one pod asks for.";

  int32_t gpus = 0;
  int32_t gpu_milli = 1000;
  double cpus = 0;
  Bytes memory = {};
  int32_t nics = 0;

  template <class V>
  void fields(V& v) {
    v("gpus", gpus, "GPU devices.", Range{0, 16}, Unit{"GPU"});
    v("gpu_milli", gpu_milli, "Share of each device in thousandths; below 1000 with one GPU only.",
      Range{1, 1000}, Unit{"GPU/1000"});
    v("cpus", cpus, "CPU cores; 0: no request.", Range{0.0, 10'000.0}, Unit{"cores"});
    v("memory", memory, "Host memory; 0: no request.", Range{Bytes{}, kNodeMemoryMax});
    v("nics", nics, "RDMA devices.", Range{0, 64}, Unit{"NIC"});
    PodConstraintParams::fields(v);
  }
  template <class C>
  void check(C& c) const {
    if (gpu_milli < 1000 && gpus != 1) c.error("gpu_milli", "below 1000 needs gpus: 1");
  }
  PodSpec spec(int32_t priority) const;
};

// How the GPUs of a generated or recorded job become pods.
enum class KindOfJob : uint8_t { Auto, Pods, MpiGang };
constexpr std::array<std::string_view, 3> enum_names(KindOfJob) {
  return {"auto", "pods", "mpi_gang"};
}
struct TrainingParams {
  static constexpr std::string_view kDoc = "How jobs start, save their progress and come back.";

  Duration checkpoint_interval = {};
  Duration checkpoint_write = {};
  Duration restore = {};
  Duration init = {};
  Duration init_per_gpu = {};
  std::optional<CheckpointParams> checkpoint = {};
  std::optional<CommunicatorParams> communicator = {};
  std::optional<StepParams> step = {};
  std::optional<DatasetParams> dataset = {};
  RestartScope restart_scope = RestartScope::Gang;
  std::optional<int32_t> restarts_max = {};
  std::optional<Duration> schedule_timeout = {};

  template <class V>
  void fields(V& v) {
    v("checkpoint_interval", checkpoint_interval,
      "Compute time between checkpoints; 0: never, so a failure loses everything.");
    v("checkpoint_write", checkpoint_write, "How long one checkpoint stops the computing.");
    v("restore", restore, "Time to load the last checkpoint after a failure.");
    v("init", init, "Communicator set-up after the start barrier.");
    v("init_per_gpu", init_per_gpu,
      "Added to init for every GPU of the job that takes part: not for late members of a gang with "
      "min_available.");
    v("checkpoint", checkpoint, "Checkpoints of gangs that go to a store, which takes its time.");
    v("communicator", communicator, "How ranks meet, which adds to init.");
    v("step", step,
      "What a step of a gang is; absent: exchanges between ranks take no time. With it, work is "
      "what GPUs compute alone: bubbles, stragglers, optimizer, data, exchanges lengthen the run. "
      "With a model, it is what GPUs of its work_gpu would compute.");
    v("dataset", dataset, "Data that gangs read as they train.");
    v("restart_scope", restart_scope,
      "After a lost pod of a gang: gang creates all pods anew; pod keeps the survivors on their "
      "nodes (semi-stateful pods) and creates only the lost ones.");
    v("restarts_max", restarts_max, "Restarts before the job fails; absent: for ever.",
      Range{0, 1'000'000});
    v("schedule_timeout", schedule_timeout,
      "PodGroup.scheduleTimeoutSeconds; absent: the scheduler's default.");
  }
  template <class C>
  void check(C& c) const {
    if (dataset && !step) c.error("dataset", "needs step: it is read step by step");
    if (checkpoint && checkpoint_interval == Duration{}) {
      c.idle("checkpoint", "has no effect without checkpoint_interval");
    }
    if (checkpoint && c.is_given("checkpoint_write")) {
      c.idle("checkpoint_write", "has no effect beside checkpoint: the store tells");
    }
    if (checkpoint && c.is_given("restore")) {
      c.idle("restore", "has no effect beside checkpoint: the store tells");
    }
    if (checkpoint_interval > Duration{}) return;
    if (checkpoint_write > Duration{}) {
      c.idle("checkpoint_write", "has no effect without checkpoint_interval");
    }
    if (restore > Duration{}) c.idle("restore", "has no effect without checkpoint_interval");
  }
  // Auto: a gang if there are several pods, or anything that only a gang has.
  JobKind kind_of(KindOfJob kind, int32_t pods) const {
    const bool is_gang =
        kind == KindOfJob::Auto ? pods > 1 || checkpoint || step : kind == KindOfJob::MpiGang;
    return is_gang ? JobKind::MpiGang : JobKind::Pods;
  }
  void apply(JobRequest& job) const;
};

}  // namespace orrery

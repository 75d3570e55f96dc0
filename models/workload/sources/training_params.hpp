// models/workload/sources/training_params.hpp -- start, training and restart of jobs in a scenario.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/facts/fact.hpp"
#include "models/storage/dataset_params.hpp"
#include "models/workload/job/job.hpp"
#include "models/workload/training/checkpoint_params.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "models/workload/training/training_step_params.hpp"
#include "sim/config/options.hpp"

namespace orrery {

// Whether the pods of a generated or recorded job are independent or a gang; Auto: see
// TrainingParams::kind_of().
enum class KindOfJob : uint8_t { Auto, Pods, MpiGang };
constexpr std::array<std::string_view, 3> enum_names(KindOfJob) {
  return {"auto", "pods", "mpi_gang"};
}
struct TrainingParams {
  static constexpr std::string_view kDoc = "Start, checkpoints and restart of jobs.";

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
  std::vector<DrawnEndingParams> endings = {};
  RestartPolicy restart = RestartPolicy::OnFailure;
  std::optional<int32_t> backoff_limit = 6;

  template <class V>
  void fields(V& v) {
    v("checkpoint_interval", checkpoint_interval,
      "Compute time between checkpoints; 0: no checkpoints, so a failure loses all compute.",
      Heeded{Fact::LostWork, is_saving_free()});
    v("checkpoint_write", checkpoint_write, "How long one checkpoint stops compute.",
      Heeded{!checkpoint, "`checkpoint` replaces this field"},
      Heeded{saves(), "there is no checkpoint_interval"});
    v("restore", restore, "Time to load the last checkpoint when a job restarts.",
      Heeded{!checkpoint, "`checkpoint` replaces this field"},
      Heeded{saves(), "there is no checkpoint_interval"}, Heeded{Fact::Stops});
    v("init", init,
      "Set-up time after all containers have started, for example to create the communicator.");
    v("init_per_gpu", init_per_gpu,
      "Added to init for each GPU of the job. In a gang with min_available, only GPUs of the "
      "pods that start together count.",
      Heeded{Fact::GpuJobs});
    v("checkpoint", checkpoint,
      "Gangs write checkpoints to a store and read them back, at the store's bandwidth. This "
      "section replaces `checkpoint_write` and `restore`.",
      Heeded{saves(), "there is no checkpoint_interval"}, Heeded{Fact::Gangs});
    v("communicator", communicator, "How ranks connect; the time to connect is added to `init`.",
      Heeded{Fact::Communicators});
    v("step", step,
      "One training step of a gang. Absent: exchanges between ranks take no time. With a step, "
      "`work` is only GPU compute. Pipeline bubbles, stragglers, optimizer, data and exchanges "
      "lengthen the job's run time. With step.model, `work` is the compute time on the GPU model "
      "work_gpu.",
      Heeded{Fact::Pods}, Heeded{Fact::Gangs}, Heeded{Fact::NetworkTime},
      Heeded{is_step_felt(),
             "the step has only compute (and neither dataset nor checkpoint_interval is set)"});
    v("dataset", dataset,
      "Data that gangs read during training. A step takes at least as long as reading its data.",
      Heeded{Fact::Gangs});
    v("restart_scope", restart_scope,
      "Which pods are recreated after a gang loses a pod. gang: all pods. pod: only the lost pods; "
      "the gang's other pods stay on their nodes. All ranks restart in both cases.",
      Heeded{Fact::Pods}, Heeded{Fact::GangsOfPods}, Heeded{Fact::Restarts});
    v("restarts_max", restarts_max,
      "Maximum number of restarts after failures; the next failure fails the job. Absent: no "
      "limit.",
      Range{0, 1'000'000}, Heeded{Fact::Pods}, Heeded{Fact::Failures});
    v("schedule_timeout", schedule_timeout,
      "PodGroup.scheduleTimeoutSeconds of the gangs; absent: the scheduler's default.",
      Heeded{Fact::Pods}, Heeded{Fact::GangsOfPods}, Heeded{Fact::PermitTimeouts});
    v("endings", endings, "Ways in which pods end by themselves, such as errors of their programs.",
      Heeded{Fact::Pods});
    v("restart", restart,
      "Whether pods that ended by themselves are restarted. In a gang, all ranks then restart (see "
      "restart_scope). exit_code: only after exit codes 130, 137, 138 and 143. Pods lost with "
      "their node are always restarted.",
      Source{"restartPolicy of a Job; exit_code is KubeDL's ExitCode"},
      Heeded{!endings.empty() || restart == RestartPolicy::OnFailure, "there are no endings"});
    v("backoff_limit", backoff_limit,
      "Maximum number of restarts of a role's pods after their own failures; the next failure is "
      "final. null: no limit. These restarts count towards restarts_max, too.",
      Range{0, 1'000'000}, Source{".spec.backoffLimit of a Job, 6"});
  }
  template <class C>
  void check(C& c) const {
    if (restart == RestartPolicy::Always) {
      c.error("restart",
              "always is only for roles whose success is ignored, because their pods never end");
    }
    if (dataset && !step)
      c.error("dataset", "needs step, because the dataset is read step by step");
  }
  bool saves() const { return checkpoint_interval > Duration{}; }
  bool is_saving_free() const { return !checkpoint && checkpoint_write == Duration{}; }
  bool is_step_felt() const { return !step || step->lengthens() || dataset || saves(); }
  // Auto: a gang if the job has several pods, or if `checkpoint` or `step` is set (only gangs use
  // these).
  JobKind kind_of(KindOfJob kind, int32_t pods) const {
    const bool is_gang =
        kind == KindOfJob::Auto ? pods > 1 || checkpoint || step : kind == KindOfJob::MpiGang;
    return is_gang ? JobKind::MpiGang : JobKind::Pods;
  }
  void apply(JobSpec& job) const;  // call after the job's roles are set
};

}  // namespace orrery

// models/workload/steps/gang_steps.hpp -- the pace of gangs with a training step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/network/network.hpp"
#include "models/storage/dataset_readers.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/lifecycle/runs/pace_model.hpp"
#include "models/workload/steps/shared_links.hpp"
#include "models/workload/steps/step_tracer.hpp"
#include "models/workload/training/gang_traffic.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "models/workload/training/step_detail.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// With `steps: rate` a gang runs at the pace of its mean step until something changes. The duration
// of this step has a closed form if no shared link can fill up; otherwise SharedLinks computes it.
// Example: a step with 0.8 s of compute and 0.4 s of exchange, of which compute hides 0.2 s, lasts
// 1.0 s. So 1 h of compute takes 4,500 steps and 75 min. With `steps: traced` StepTracer simulates
// every step. If a gang cannot exchange data, it stalls and is aborted after NCCL's retry timeout.
class GangSteps : public PaceModel {
 public:
  // `network` is null unless `network.level` is `flow`. `storage` is null if the run has no stores.
  // All arguments must outlive this object.
  GangSteps(Sim sim, GangTraffic traffic, const JobTable& jobs, JobController& controller,
            Network* network, Storage* storage, StepDetail steps);

  std::optional<GangStart> begins(JobId job) override;
  void ends(JobId job) override;
  void connect(JobNews& jobs);

  struct View {
    const StepCycle* cycle = nullptr;  // null: no gang of the job is running
    // Mean duration of the exchange across nodes, or Duration::max() if the exchange cannot
    // proceed. 0 with `steps: traced`, and 0 unless `network.level` is `flow`.
    Duration across{};
    Bytes bytes{};  // bytes of that exchange on the gang's heaviest link
    bool is_traced = false;
    bool is_updating = false;  // traced: the optimizer runs, or the step waits for data
  };
  View view(JobId job) const;
  // True if the gang cannot exchange, and no pending timeout will abort the gang.
  bool waits_in_vain(JobId job) const;
  // Bytes that traced steps have sent over the gang's heaviest link. Includes the bytes of earlier
  // jobs with this id.
  Bytes sent(JobId job) const { return tracer_ ? tracer_->sent(job) : Bytes{}; }
  // See GangTraffic::nic_parts(). Empty unless the gang is running.
  std::vector<double> nic_parts(JobId job) const;

  const SharedLinks* shared_links() const { return links_ ? &*links_ : nullptr; }
  struct Counters {
    uint32_t standing_still = 0;  // gangs that cannot exchange now and have not given up
    uint64_t gave_up = 0;         // gangs aborted because they could not exchange
    uint64_t rerouted = 0;        // how often routes of a gang were computed again
  };
  const Counters& counters() const { return counters_; }

 private:
  void phase_changed(JobId job, JobPhase after);
  // Called when the controller has paused or resumed the job, or changed the job's pace.
  void controller_changed_pace(JobId job);
  struct SteppingGang {
    bool is_running = false;
    StepPlan plan{};
    StepCycle cycle{};
    GangTraffic::Found traffic{};
    SharedLinks::Step step{};
    FlowId carried{};    // with `steps: rate`: the mean load of the gang's steps on its links
    EventId gives_up{};  // aborts the gang; pending while the gang cannot exchange
    bool crosses_nodes() const { return traffic.activity.bytes > Bytes{}; }
    bool is_connected() const {
      return traffic.activity.fabric.is_connected && traffic.activity.rate_max > Bandwidth{};
    }
    Pace pace() const { return Pace::of_step(plan.compute, step.length); }
  };
  void find_traffic(JobId job, const GangPlaces& places);
  void find_step(JobId job);
  void apply(JobId job);
  void reroute(const Network::RouteNews& news);
  void data_rate_changed(JobId job);
  void book(JobId job);
  bool is_stuck(JobId job) const;
  void watch(JobId job);
  void give_up(JobId job);

  Sim sim_;
  GangTraffic traffic_;
  const JobTable& jobs_;
  JobController& controller_;
  Network* network_;
  std::optional<StepTracer> tracer_;
  std::optional<SharedLinks> links_;
  std::optional<DatasetReaders> readers_;
  std::vector<SteppingGang> gangs_;  // by job
  Counters counters_;
};

}  // namespace orrery

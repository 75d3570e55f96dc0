// models/workload/steps/step_tracer.hpp -- simulates the steps of gangs one by one on a flow
// network.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/sharing/flow_network.hpp"
#include "models/workload/training/pace.hpp"
#include "models/workload/training/step_activity.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Each step follows StepCycle. Its exchange across nodes is one transfer, which shares links with
// all other flows. Work progresses while a step computes and stands still in its other phases. A
// pause of the gang stops the step, its transfer included. The last step does only the remaining
// work, and its times and bytes are scaled down in proportion. Example: 10 s of work in steps of
// 4 s take two whole steps and one half step.
class StepTracer {
 public:
  // `flows` is null unless `network.level` is `flow`. Without `flows`, the `bytes` of every
  // activity must be 0.
  StepTracer(Engine& engine, FlowNetwork* flows) : engine_{engine}, flows_{flows} {}
  StepTracer(const StepTracer&) = delete;
  StepTracer& operator=(const StepTracer&) = delete;

  // The first step begins after `delay`; `work` is the total work.
  void begin(JobId job, const StepCycle& cycle, const StepActivity& activity, Duration work,
             Duration delay = {});
  void end(JobId job);
  void reroute(JobId job, const StepActivity& activity);
  void set_reading(JobId job, Duration reading);
  void set_paused(JobId job, bool is_paused);

  Signal<JobId, Pace> pace_changed;  // exact: the work of a phase is done in exactly its duration
  // After this signal the next step begins, unless end() was called or no work is left.
  Signal<JobId> step_done;
  Signal<JobId> transfer_due;  // the exchange across nodes begins; a route may be missing

  bool is_updating(JobId job) const {  // the optimizer runs, or the step waits for data
    return job.index < steps_.size() && steps_[job.index].phase == Phase::Update;
  }
  bool is_transferring(JobId job) const;  // an exchange across nodes is due or under way
  // Bytes sent so far, including the bytes of earlier jobs with this id.
  Bytes sent(JobId job) const;

 private:
  enum class Phase : uint8_t { Compute, Overlap, Exchange, Update };
  struct Wait {
    EventId event{};
    Time due{};
    Duration left = Duration::max();  // time left of a paused wait; max: not paused
    void (StepTracer::*then)(JobId) = nullptr;
  };
  struct Steps {
    bool is_active = false;
    StepCycle cycle{};
    StepActivity activity{};
    Duration left{};  // work still to do, including the work of the present step
    Duration work{};  // work of the present step
    double part = 1;  // the present step's share of a whole step
    // Duration and work of the part of the present step that comes before the exchange.
    Duration lead{}, lead_work{};
    // Start of the present step, and end of StepCycle::update in this step. When a pause ends, both
    // times are shifted by the length of the pause.
    Time begun{}, updated_at{};
    Phase phase = Phase::Compute;
    Time paused_at = Time::max();  // max: not paused
    bool exchanges = false;        // an exchange is under way
    Wait main{}, inside{};         // main: ends the phase; inside: ends the exchange within nodes
    FlowId flow{};
    // Size of `flow`. A flow that reroute() restarted carries only the bytes that were left.
    Bytes sending{};
    Bytes whole{};  // bytes of a whole step on the heaviest link when `sending` was set
    Bytes sent{};   // bytes of transfers that have ended
    bool is_paused() const { return paused_at != Time::max(); }
    Duration part_of(Duration span) const {
      return part == 1 ? span : nearest_ns(span.seconds() * part);
    }
    double rate_max() const {
      return is_paused() ? 0 : static_cast<double>(activity.rate_max.bits_per_s);
    }
  };
  void next_step(JobId job);
  void compute(JobId job, Phase phase, Duration work, Duration span);
  void computed(JobId job);
  void stand_still(JobId job, Phase phase);
  void update(JobId job);
  void updated(JobId job);
  void end_step(JobId job);
  void start_exchange(JobId job);
  void leave_nodes(JobId job);
  void send(JobId job, double bytes);
  void exchanged(JobId job);
  void start(JobId job, Wait& wait, Duration span, Label label, void (StepTracer::*then)(JobId));
  void resume(JobId job, Wait& wait);

  Engine& engine_;
  FlowNetwork* flows_;
  std::vector<Steps> steps_;  // by job
};

}  // namespace orrery

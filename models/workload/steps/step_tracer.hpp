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

// Each step follows StepCycle; its exchange across nodes is one transfer, which shares links with
// all others. Work progresses while a step computes and stands still for the rest. A pause of the
// gang stops all of this. The last step is as small as the work that is left: its compute and bytes
// are that share of a whole step. Example: 10 s of work in steps of 4 s: two whole steps and one
// half step.
class StepTracer {
 public:
  // `flows`: null if no exchange leaves its nodes.
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

  Signal<JobId, Pace> pace_changed;  // exact: a phase does its work in exactly its time
  Signal<JobId> step_done;           // unless end() is called, the next step begins afterwards
  Signal<JobId> transfer_due;        // the exchange across nodes is due; a route may be missing

  bool is_updating(JobId job) const {  // the optimizer runs, or the step waits for data
    return job.index < steps_.size() && steps_[job.index].phase == Phase::Update;
  }
  bool is_transferring(JobId job) const;  // an exchange across nodes is due or under way
  // Bytes sent so far, including by earlier jobs with this id.
  Bytes sent(JobId job) const;

 private:
  enum class Phase : uint8_t { Compute, Overlap, Exchange, Update };
  struct Wait {
    EventId event{};
    Time due{};
    Duration left = Duration::max();  // of a paused wait
    void (StepTracer::*then)(JobId) = nullptr;
  };
  struct Steps {
    bool is_active = false;
    StepCycle cycle{};
    StepActivity activity{};
    Duration left{};  // work, the present step included
    Duration work{};  // of the present step
    double part = 1;  // the present step's share of a whole step
    // Before its exchange begins: time, and the work done in that time.
    Duration lead{}, lead_work{};
    // Start of the present step, and end of its optimizer; pauses delay both.
    Time begun{}, updated_at{};
    Phase phase = Phase::Compute;
    Time paused_at = Time::max();  // max: not paused
    bool exchanges = false;        // an exchange is under way
    Wait main{}, inside{};         // the event that ends the phase; the exchange inside of nodes
    FlowId flow{};
    Bytes sending{};  // bytes of the transfer under way, or left when its route changed
    Bytes whole{};    // bytes of a whole step on its heaviest link at that time
    Bytes sent{};     // bytes of finished transfers
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

// models/workload/step_play.hpp -- gangs that share links, played step by step ahead of time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/link_use.hpp"
#include "models/network/max_min.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The steps of one gang, as StepTracer plays them.
struct StepParts {
  Duration compute{};  // the work of a step
  Duration working{};  // how long that takes
  Duration overlap{};  // of working: the exchange is under way meanwhile
  Duration inside{};   // of the exchange: it stays in nodes
  Duration update{};
  Duration at_least{};          // no step is shorter
  double bits = 0;              // on its heaviest link
  double rate_max = 0;          // bits a second; 0: it cannot move
  std::vector<LinkUse> uses{};  // of the play's links
  int64_t save_every = 0;       // steps between pauses for a checkpoint; 0: it makes none
  Duration save{};              // such a pause; max: until told otherwise
  double last_part = 1;         // of a whole step, what the last one is

  Duration alone() const;               // a step that meets nobody
  StepParts scaled(double part) const;  // such a part of a step, without uses
};

// How far a gang is in its step: what is left of each of its parts.
struct StepPosition {
  enum class Exchange : uint8_t { Waits, Inside, Moves, Over };
  Exchange exchange = Exchange::Waits;
  bool is_stopped = false;  // by somebody, until told otherwise
  Duration computing{}, inside{}, update{}, at_least{};
  double bits = 0;
  int64_t to_save = kNever;  // steps that end before the next pause
  Duration pause{};
  int64_t steps = 0;        // that are over
  int64_t to_end = kNever;  // steps until all its work is done, with this one
  double part = 1;          // of a whole step, what this one is

  static constexpr int64_t kNever = INT64_MAX;

  static StepPosition begin(const StepParts& shape, double part = 1);
  // Of a gang that met nobody, when such a part of the step's time was over.
  static StepPosition after(const StepParts& shape, double done, double part = 1);
  Duration left(const StepParts& shape) const;  // until the step is over, if it met nobody
  // Of the step's work, in nanoseconds, as if it were done all through the step of a gang alone. It
  // is not all done before the step is over.
  double work(const StepParts& shape) const;
  // For so long, in which its exchange cannot leave nodes; returns how many steps ended.
  int64_t go_on_cut_off(const StepParts& shape, Duration span);

 private:
  StepPosition whole() const;  // as it is in a step that is a whole one
};

// Time goes from event to event of any gang. Once the gangs repeat themselves, whole periods are
// left out, up to the next pause or end; that makes hours as cheap as seconds.
class StepPlay {
 public:
  // As many positions as shapes. `capacities` are of links 0, 1, ..., in bits a second.
  StepPlay(std::vector<StepParts> shapes, std::span<const double> capacities);
  StepPlay(const StepPlay&) = default;
  StepPlay(StepPlay&&) = default;
  StepPlay& operator=(StepPlay&&) = default;

  void start(std::vector<StepPosition> positions);
  // For so long, until a gang has done all its work or begins a pause that only somebody else ends,
  // or until so many events were played; returns how long.
  Duration run(Duration span, int64_t events_max = INT64_MAX);

  const std::vector<StepParts>& shapes() const { return shapes_; }
  const std::vector<StepPosition>& positions() const { return positions_; }
  bool has_ended(size_t gang) const;  // it did all its work
  // Since the start, in nanoseconds: what a gang has done of its work, counted as if it did so all
  // through each step; and for how long it paused.
  double work(size_t gang) const;
  Duration paused(size_t gang) const { return paused_[gang]; }
  int64_t played() const { return played_; }  // events that were not left out
  // They repeat themselves, for good unless somebody changes something: in so much time the gang
  // makes so many steps. Zero time: they do not, or none of them moves.
  Duration period() const { return period_; }
  int64_t steps_of_period(size_t gang) const { return steps_of_period_[gang]; }

 private:
  Duration next(size_t gang) const;
  void elapse(Duration span);
  void settle();
  bool settle(size_t gang);
  void next_step(size_t gang);
  void set_flow(size_t gang);
  bool moves(size_t gang) const;
  Duration overlap(size_t gang) const;
  void look_for_period(Duration& left);
  bool repeats() const;
  void set_anchor();

  std::vector<StepParts> shapes_;
  std::vector<double> work_before_;  // in the step that each was in at the start
  std::vector<StepPosition> positions_;
  std::vector<Duration> paused_;
  MaxMin sharing_;
  std::vector<ActivityId> flows_;
  std::vector<double> rates_;
  bool waits_ = false;        // somebody ended, or began a pause without end
  size_t leader_ = SIZE_MAX;  // of the gangs that are not stopped; none: nobody moves
  Duration elapsed_;
  int64_t played_ = 0;
  // Where the leader began a step; it is moved on after 1, 2, 4, ... of its steps.
  std::vector<StepPosition> anchor_;
  Duration anchored_at_;
  int64_t anchor_steps_ = 1;
  Duration period_;
  std::vector<int64_t> steps_of_period_;
};

}  // namespace orrery

// models/workload/step_play.hpp -- gangs that share links, played step by step ahead of time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/max_min.hpp"
#include "models/workload/step_position.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Time goes from event to event of any gang, and what happens then is what StepTracer and
// FlowNetwork would make of it, to the nanosecond. Once the gangs repeat themselves, whole periods
// are left out, up to the next pause or end; that makes hours as cheap as seconds. They must do so
// to the nanosecond, too, or, if that takes long, to a few; then as many are left out as make a
// microsecond.
class StepPlay {
 public:
  // As many positions as shapes. `capacities` are of links 0, 1, ..., in bits a second.
  StepPlay(std::vector<StepParts> shapes, std::span<const double> capacities);
  StepPlay(const StepPlay&) = default;
  StepPlay(StepPlay&&) = default;
  StepPlay& operator=(const StepPlay&) = default;
  StepPlay& operator=(StepPlay&&) = default;

  // `played`: how many events count as played before.
  void start(std::vector<StepPosition> positions, int64_t played = 0);
  void start_again();  // where it is
  // For so long, until a gang has done all its work or begins a pause that only somebody else ends,
  // or until so many events were played; returns how long.
  Duration run(Duration span, int64_t events_max = INT64_MAX);

  const std::vector<StepParts>& shapes() const { return shapes_; }
  const std::vector<StepPosition>& positions() const { return positions_; }
  bool has_ended(size_t gang) const;  // it did all its work
  // Since the start, in nanoseconds: what a gang has done of its work, counted as if it did so all
  // through each step; and for how long it paused.
  double work(size_t gang) const;
  Duration paused(size_t gang) const { return states_[gang].paused; }
  int64_t played() const { return played_; }  // events that were not left out
  // They repeat themselves, for good unless somebody changes something: in so much time the gang
  // makes so many steps. Zero time: they do not, or none of them moves.
  Duration period() const { return period_; }
  int64_t steps_of_period(size_t gang) const { return steps_of_period_[gang]; }

 private:
  struct State {        // of a gang, and of its position, but for when its next event is
    Duration at;        // since the start, when they were so
    int128_t left = 0;  // of the exchange; the position has it when a run ends
    int128_t rate = 0;
    ActivityId flow{};
    Duration paused{};
    double work_before = 0;  // in the step that it was in at the start
  };
  void find_leader();
  void tell_positions();
  Duration until_next(size_t gang) const;
  void find_next(size_t gang);
  void bring_to_now(size_t gang);
  void go_on(size_t gang);
  bool settle(size_t gang);
  void next_step(size_t gang);
  void set_flow(size_t gang);
  void share();
  bool moves(size_t gang) const;
  Duration overlap(size_t gang) const;
  void look_for_period(Duration until);
  bool is_exact() const;
  bool repeats() const;
  void set_anchor();
  void leave_out(int64_t periods, Duration period);

  std::vector<StepParts> shapes_;
  std::vector<StepPosition> positions_;
  std::vector<State> states_;
  std::vector<Duration> next_;  // when something becomes of each; max: never
  MaxMin sharing_;
  std::vector<size_t> gang_of_flow_;
  bool waits_ = false;        // somebody ended, or began a pause without end
  size_t leader_ = SIZE_MAX;  // of the gangs that are not stopped; none: nobody moves
  Duration elapsed_;
  int64_t played_ = 0;
  // Where the leader began a step; it is moved on after 1, 2, 4, ... of its steps.
  struct Anchor {
    StepPosition position;
    int128_t left;
  };
  std::vector<Anchor> anchor_;
  Duration anchored_at_;
  int64_t anchor_steps_ = 1;
  Duration period_;
  std::vector<int64_t> steps_of_period_;
};

}  // namespace orrery

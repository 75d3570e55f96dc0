// sim/engine/timer.hpp -- a deadline that is usually moved or dropped before it is reached.
#pragma once

#include <functional>
#include <utility>

#include "sim/engine/engine.hpp"

namespace orrery {

// A timer has at most one pending event. A destroyed timer has none.
class Timer {
 public:
  Timer(Engine& engine, Label label, std::function<void()> action, Phase phase = Phase::Model)
      : engine_{engine}, label_{label}, phase_{phase}, action_{std::move(action)} {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { disarm(); }

  void arm_at(Time when) {  // replaces an earlier deadline
    disarm();
    event_ = engine_.at(
        when, label_, [this] { action_(); }, phase_);
  }
  void arm(Duration delay) { arm_at(engine_.now() + delay); }
  void disarm() { engine_.cancel(event_); }
  bool is_armed() const { return engine_.is_pending(event_); }

 private:
  Engine& engine_;
  Label label_;
  Phase phase_;
  EventId event_;
  std::function<void()> action_;
};

}  // namespace orrery

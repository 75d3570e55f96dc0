// sim/engine/trigger.hpp -- processes wait for a trigger until it is fired.
#pragma once

#include <utility>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/engine/process.hpp"

namespace orrery {

// A process waits for the trigger `ready` with
//   co_await ready.wait();
// A trigger that has fired lets every process pass, until reset().
class Trigger final : private Wait {
 public:
  Trigger() = default;
  Trigger(const Trigger&) = delete;
  Trigger& operator=(const Trigger&) = delete;
  ~Trigger() { ORRERY_CHECK(waiting_.empty(), "a trigger outlives those that wait for it"); }

  struct [[nodiscard]] Awaiter {
    Trigger& trigger;
    Process::Handle handle;
    bool await_ready() const noexcept { return trigger.is_fired_; }
    void await_suspend(Process::Handle waiter) {
      handle = waiter;
      waiter.promise().wait = &trigger;
      trigger.waiting_.push_back(waiter);
    }
    void await_resume() const {
      if (handle) handle.promise().wait = nullptr;
    }
  };
  Awaiter wait() { return {*this, {}}; }
  bool is_fired() const { return is_fired_; }
  size_t waiting() const { return waiting_.size(); }

  void fire() {  // wakes all waiting processes, in order of arrival
    is_fired_ = true;
    pulse();
  }
  void pulse() {  // wakes all processes waiting now; later waits need another pulse
    for (const Process::Handle waiter : std::exchange(waiting_, {})) Process::wake(waiter);
  }
  void reset() { is_fired_ = false; }

 private:
  void abandon(Process::Handle handle) override { std::erase(waiting_, handle); }
  bool is_fired_ = false;
  std::vector<Process::Handle> waiting_;
};

}  // namespace orrery

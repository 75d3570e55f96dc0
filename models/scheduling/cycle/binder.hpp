// models/scheduling/cycle/binder.hpp -- binds pods once their cycle is over.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/scheduling/cycle/reservations.hpp"

namespace orrery {

struct PermittedPod {
  PodId pod;
  // Time from the start of the cycle until the bind delay begins. Duration::max(): the bind delay
  // begins at the end of the cycle.
  Duration after;
};
struct DueBinding {
  Time due;
  PodId pod;
  uint64_t reservation = 0;
};

// A pod is bound after the bind delay, SchedulerCost::bind. The delay begins
// - at the end of the cycle that placed the pod, if Permit accepts it in this cycle;
// - at the start of the cycle plus PermittedPod::after, for members of a gang placed as a whole;
// - when Permit accepts the pod after a wait; if a cycle is running then, at the end of this cycle.
class Binder {
 public:
  explicit Binder(const SchedulerContext& context) : context_{context} {}
  void use(PodApi& api) { api_ = &api; }

  // Binds the pod after the bind delay. `after` is PermittedPod::after. Outside a cycle, `after` is
  // ignored.
  void add(PodId pod, Duration after = Duration::max());
  void cycle_begins() { is_cycle_running_ = true; }
  void cycle_ends(Time began, Time ends);
  void forget() { binding_.clear(); }  // drops bindings that are due later

  Signal<PodId> bound;
  Signal<> failed;  // a binding failed, and the pod was requeued

 private:
  void push(Time due, PodId pod);
  void bind_due();
  void bind(PodId pod);
  void bind_failed(PodId pod, std::string_view reason);
  void is_bound(PodId pod);

  const SchedulerContext& context_;
  PodApi* api_ = nullptr;
  bool is_cycle_running_ = false;
  Time busy_until_;  // the end of the latest cycle
  std::vector<PermittedPod> of_cycle_;
  std::deque<DueBinding> binding_;
  EventId event_;
};

}  // namespace orrery

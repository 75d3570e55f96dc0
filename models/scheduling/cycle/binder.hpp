// models/scheduling/cycle/binder.hpp -- writes what the scheduler has decided.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/scheduling/cycle/reservations.hpp"

namespace orrery {

struct PermittedPod {
  PodId pod;
  Duration after;  // since the cycle began; max: once it is over
};
struct DueBinding {
  Time due;
  PodId pod;
  uint64_t reservation = 0;
};

// Pods of a cycle are bound once the cycle is over; others at once, unless a cycle still takes
// time.
class Binder {
 public:
  struct Context {
    Sim sim;
    JobTable& jobs;
    JobController& controller;
    PodTracks& tracks;
    const Placements& placements;
    const ActiveProfile& profile;
    Reservations& reservations;
  };
  explicit Binder(const Context& context) : context_{context} {}
  void use(PodApi& api) { api_ = &api; }

  // `after`: since the cycle began; max: once it is over.
  void add(PodId pod, Duration after = Duration::max());
  void cycle_begins() { is_cycle_running_ = true; }
  void cycle_ends(Time began, Time ends);
  void forget() { binding_.clear(); }  // those that are under way

  Signal<PodId> bound;
  Signal<> failed;  // after the pod has gone back to the queue

 private:
  void push(Time due, PodId pod);
  void bind_due();
  void bind(PodId pod);
  void bind_failed(PodId pod, std::string_view reason);
  void is_bound(PodId pod);

  Context context_;
  PodApi* api_ = nullptr;
  bool is_cycle_running_ = false;
  Time busy_until_;  // the end of the latest cycle
  std::vector<PermittedPod> of_cycle_;
  std::deque<DueBinding> binding_;
  EventId event_;
};

}  // namespace orrery

// sim/engine/engine.hpp -- one clock, one ordered event queue, one run-to-completion loop.
//
//   Engine engine;
//   engine.after(5_us, Label{"demo.tick"}, [&] { ... });
//   engine.run(Time{} + 1_s);
//
// Example: events A (Phase::Model), B (Phase::Fault) and C (Phase::Model) are scheduled in this
// order, all for 5 us. They run in the order B, A, C.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/core/callback.hpp"
#include "sim/core/check.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/event.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/profile.hpp"

namespace orrery {

// Objects that refer to an engine must be destroyed before it.
class Engine {
 public:
  struct Limits {
    uint32_t pending_max = 1u << 24;
    // Maximum number of events at one instant. If it is exceeded, a check ends the run, because the
    // model probably loops without delay.
    uint32_t events_per_instant_max = 1'000'000;
    uint64_t audit_every = 0;  // number of events between audits; 0 means never
    // Initial number of events between rungs of ladder(). The number doubles each time there are
    // 4,096 rungs.
    uint64_t ladder_every = 1u << 10;
    uint64_t seed = 0;  // seed of the run, for messages of failed checks
  };
  enum class Outcome : uint8_t { Drained, ReachedEnd, Stopped };
  struct Rung {  // the digest after `event` events
    uint64_t event = 0;
    Time time;
    uint64_t digest = 0;
  };

  Engine() : Engine(Limits{}) {}
  explicit Engine(Limits limits);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Time now() const { return Time{context_.now_ns}; }
  size_t pending() const { return queue_.size(); }
  Time next_time() const { return queue_.next_time(); }  // a linear search: not for hot paths
  uint64_t events_run() const { return events_run_; }
  // Covers time, phase and label of all events run so far, in order. Equal runs have equal digests.
  uint64_t digest() const { return digest_; }
  // At most 4,096 digests, at equal intervals of events, to compare two runs window by window.
  const std::vector<Rung>& ladder() const { return ladder_; }

  // Runs `fn` at `when`, which must not be in the past. An exception of `fn` propagates out of
  // run().
  template <std::invocable F>
  EventId at(Time when, Label label, F&& fn, Phase phase = Phase::Model) {
    ORRERY_CHECK(when >= now(), "an event lies in the future");
    if constexpr (std::same_as<std::remove_cvref_t<F>, Callback>) {
      ORRERY_CHECK(static_cast<bool>(fn), "an event has something to call");
    }
    return queue_.push(when, phase, label, std::forward<F>(fn));
  }
  template <std::invocable F>
  EventId after(Duration delay, Label label, F&& fn, Phase phase = Phase::Model) {
    return at(now() + delay, label, std::forward<F>(fn), phase);
  }
  // Drops the event and destroys its callback at once. Returns false if the handle was stale.
  bool cancel(EventId id) { return queue_.cancel(id); }
  bool is_pending(EventId id) const { return queue_.contains(id); }

  // Runs every event due up to and including `end`, in (time, phase, schedule) order. Leaves the
  // clock at the last event or, with Outcome::ReachedEnd (later events are pending), at `end`.
  Outcome run(Time end = Time::max());
  bool step();  // runs one event; returns false if no event is pending
  // Advances the clock to `when`. No event may be pending before this instant.
  void advance_to(Time when);
  // Ends the run after the present event. A call between runs ends the next run before its first
  // event.
  void stop() { request_stop(); }
  // Like stop(), but can be called from a signal handler or another thread.
  void request_stop() noexcept { stop_requested_.store(true, std::memory_order_relaxed); }

  void enable_profile() { profile_ = std::make_unique<Profile>(); }
  std::vector<ProfileRow> profile() const;
  // Calls `poll` once every `every_events` events. Polls do not change the digest.
  void set_poll(uint64_t every_events, std::function<void()> poll);
  // Adds a check of invariants. It is called between events, once every Limits::audit_every events.
  void add_audit(std::function<void()> audit) { audits_.push_back(std::move(audit)); }

 private:
  void execute(const EventQueue::Due& due);
  void run_profiled(const EventQueue::Due& due);
  void do_chores();
  void plan_chores();
  void add_rung();

  static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers set it");
  Limits limits_;
  CheckContext context_;  // also holds the clock
  uint64_t events_run_ = 0;
  uint64_t digest_ = 0;
  uint64_t instant_start_ = 0;  // value of events_run_ at the begin of the present instant
  uint64_t chores_due_ = 0;     // value of events_run_ at which do_chores is due
  uint64_t poll_every_ = 0;
  uint64_t poll_due_ = UINT64_MAX;
  uint64_t audit_due_ = UINT64_MAX;
  uint64_t ladder_stride_;
  std::atomic<bool> stop_requested_ = false;
  std::unique_ptr<Profile> profile_;
  std::function<void()> poll_;
  std::vector<std::function<void()>> audits_;
  std::vector<Rung> ladder_;
  EventQueue queue_;  // declared last: callbacks destroyed with it may still call the engine
};

}  // namespace orrery

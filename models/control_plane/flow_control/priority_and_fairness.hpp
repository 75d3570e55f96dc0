// models/control_plane/flow_control/priority_and_fairness.hpp -- which requests an API server
// executes, lets wait, or turns away.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/control_plane/base/indexed_heap.hpp"
#include "models/control_plane/flow_control/flow_control_setup.hpp"
#include "models/control_plane/flow_control/shuffle_sharding.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A state machine without a clock: the server tells it what arrives and ends, and begins what it
// says has started. Each level has seats of its own, some of which it lends and borrows every 10 s.
// Those who find no free seat wait in a few queues that their flow was dealt, in the least loaded
// of them; the queue whose first request would be the first to be over in virtual time goes on. A
// queue's virtual start grows by guess x width when one of its requests starts, and shrinks by
// (guess - service) x width when that ends. O(log queues) for each request; no allocation once as
// many requests were present at a time as ever will be.
class PriorityAndFairness {
 public:
  struct Arrival {
    uint32_t request;  // small, dense, free again once it ended
    uint32_t level;
    uint64_t flow;
    int32_t width = 1;  // seats
  };
  struct LevelState {
    int32_t limit;    // its seats at present
    int32_t in_use;   // seats
    int32_t waiting;  // requests
  };

  explicit PriorityAndFairness(FlowControlSetup setup);

  // False: turned away. Otherwise it shows up in take_started(), at once or later.
  [[nodiscard]] bool arrive(const Arrival& arrival, Time now);
  void finish(uint32_t request, Time now);   // it was executing, and gives its seats back
  void abandon(uint32_t request, Time now);  // it was waiting
  bool is_waiting(uint32_t request) const { return entries_[request].state == State::Waiting; }
  // The next request that started since, in order.
  std::optional<uint32_t> take_started();
  // A request that has waited as long as any may; it is gone.
  std::optional<uint32_t> take_expired(Time now);
  // Lends and borrows what was due by now. Called by all of the above.
  void advance(Time now);
  // When something may happen by itself: max while nothing waits.
  Time next_event() const;
  void reset(Time now);  // nothing is present any more

  // Seats that steady load holds, requests of which do not arrive one by one.
  void set_background(uint32_t level, double seats, Time now);
  LevelState state(uint32_t level) const;
  uint32_t levels() const { return static_cast<uint32_t>(levels_.size()); }
  uint32_t present() const { return present_; }
  // Aborts if seats or requests do not add up.
  void audit() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class State : uint8_t { Absent, Waiting, Executing };
  struct Entry {
    State state = State::Absent;
    uint32_t level = 0, queue = kNone;
    int32_t width = 0;
    Time since;                               // it waits, or executes
    uint32_t previous = kNone, next = kNone;  // in its queue
    uint32_t earlier = kNone, later = kNone;  // among all that wait
  };
  struct Queue {
    uint32_t first = kNone, last = kNone;
    int32_t waiting = 0, waiting_seats = 0, executing = 0, seats = 0;
    double virtual_start = 0;  // of its next request
  };
  struct Level {
    LevelSetup setup;
    std::optional<ShuffleSharding> sharding;
    std::vector<Queue> queues;
    IndexedHeap<double> next_queue;  // those that wait, by the virtual finish of their first
    int32_t limit = 0, in_use = 0, waiting = 0, waiting_seats = 0;
    int32_t busy_queues = 0;
    uint32_t deals = 0;  // where in a hand to look first: ties go round
    double background = 0;
    double virtual_time = 0;
    Time since;                      // up to when virtual time and demand count
    double demand = 0, squares = 0;  // seat demand over this period, and its square, in seconds
    double high = 0, past_high = 0;  // greatest demand in this period and in the one before
    double smooth = 0;
    double present_demand() const { return waiting_seats + in_use + background; }
    double finish_of(const Queue& queue, int32_t width, double guess) const {
      return queue.virtual_start + guess * width;
    }
  };
  bool fits(const Level& level, int32_t width) const;
  void account(Level& level, Time now);
  uint32_t choose_queue(Level& level, uint64_t flow);
  void enqueue(Level& level, uint32_t queue, uint32_t request, Time now);
  void leave_queue(Level& level, uint32_t request);
  void dispatch(Level& level, Time now);
  void start(Level& level, uint32_t request, Time now);
  void close_period(Time end);
  bool is_steady() const;
  void share_seats(Time now);

  FlowControlSetup setup_;
  double guess_;  // of the time a request takes, in seconds
  std::vector<Level> levels_;
  std::vector<Entry> entries_;  // by request
  std::vector<uint32_t> started_;
  size_t started_taken_ = 0;
  uint32_t oldest_ = kNone, newest_ = kNone;  // of all that wait
  uint32_t present_ = 0, waiting_ = 0;
  Time next_adjustment_ = Time::max();
};

}  // namespace orrery

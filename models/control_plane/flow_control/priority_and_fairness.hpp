// models/control_plane/flow_control/priority_and_fairness.hpp -- which requests an API server
// executes, queues or rejects.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/control_plane/base/indexed_heap.hpp"
#include "models/control_plane/flow_control/flow_control_setup.hpp"
#include "models/control_plane/flow_control/shuffle_sharding.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A state machine without a clock. The server calls arrive() and finish(), and starts the requests
// that take_started() returns. Each priority level has its own seats; every 10 s, levels lend seats
// to one another. A request that finds no free seat waits in the least loaded of the few queues
// that its flow may use. The first request of a queue has a virtual finish: the queue's virtual
// start + G x width, where G is a guessed duration and width the seats of the request. The request
// with the smallest virtual finish starts next. A queue's virtual start grows by G x width when one
// of its requests starts, and shrinks by (G - duration) x width when this request ends. Cost:
// O(log queues) for each request; no allocation in a steady state.
//
// Example: one seat; flow A has 100 requests in its queue and flow B has one in another queue. A's
// first request and B's request have the same virtual finish, so B's request is second, not 101st.
class PriorityAndFairness {
 public:
  struct Arrival {
    uint32_t request;  // a small, dense id, reusable after the request's end
    uint32_t level;
    uint64_t flow;
    int32_t width = 1;  // seats
  };
  struct LevelState {
    int32_t limit;    // its present seats
    int32_t in_use;   // seats
    int32_t waiting;  // requests
  };

  explicit PriorityAndFairness(FlowControlSetup setup);

  // Returns false if the request is rejected. Otherwise take_started() returns the request once it
  // starts, unless the request is abandoned or expires before.
  [[nodiscard]] bool arrive(const Arrival& arrival, Time now);
  void finish(uint32_t request, Time now);   // the request executed, and returns its seats
  void abandon(uint32_t request, Time now);  // removes a waiting request
  bool is_waiting(uint32_t request) const { return entries_[request].state == State::Waiting; }
  // Takes the next started request, in the order of the starts; empty if there is none.
  std::optional<uint32_t> take_started();
  // Removes and returns a request that has waited for the maximum time; empty if there is none.
  std::optional<uint32_t> take_expired(Time now);
  // Adjusts the seats of all levels for the periods that have ended by now. Every function with a
  // parameter `now` does this first.
  void advance(Time now);
  // When the oldest waiting request will have waited for the maximum time, or when seats are
  // adjusted next, whichever is earlier. Time::max() if no request waits.
  Time next_event() const;
  void reset(Time now);  // removes all requests

  // Sets the seats held by steady load, which does not arrive request by request.
  void set_background(uint32_t level, double seats, Time now);
  LevelState state(uint32_t level) const;
  uint32_t levels() const { return static_cast<uint32_t>(levels_.size()); }
  uint32_t present() const { return present_; }
  // Checks that seats and requests add up.
  void audit() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class State : uint8_t { Absent, Waiting, Executing };
  struct Entry {
    State state = State::Absent;
    uint32_t level = 0, queue = kNone;
    int32_t width = 0;
    Time since;                               // since when it waits or executes
    uint32_t previous = kNone, next = kNone;  // neighbours in its queue
    uint32_t earlier = kNone, later = kNone;  // neighbours among all waiting requests
  };
  struct Queue {
    uint32_t first = kNone, last = kNone;
    int32_t waiting = 0, waiting_seats = 0, executing = 0, seats = 0;
    double virtual_start = 0;  // virtual start of its next request
  };
  struct Level {
    LevelSetup setup;
    std::optional<ShuffleSharding> sharding;
    std::vector<Queue> queues;
    // Queues with waiting requests, by virtual finish of their first request.
    IndexedHeap<double> next_queue;
    int32_t limit = 0, in_use = 0, waiting = 0, waiting_seats = 0;
    int32_t busy_queues = 0;
    uint32_t deals = 0;  // number of deals, so that ties in a hand are broken round robin
    double background = 0;
    double virtual_time = 0;
    Time since;  // time up to which virtual time and demand are accounted
    // Integrals of the seat demand and of its square over the present adjustment period.
    double demand = 0, squares = 0;
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
  double guess_;  // expected duration of a request, in seconds
  std::vector<Level> levels_;
  std::vector<Entry> entries_;  // by request
  std::vector<uint32_t> started_;
  size_t started_taken_ = 0;
  uint32_t oldest_ = kNone, newest_ = kNone;  // list of all waiting requests
  uint32_t present_ = 0, waiting_ = 0;
  Time next_adjustment_ = Time::max();
};

}  // namespace orrery

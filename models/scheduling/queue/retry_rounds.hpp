// models/scheduling/queue/retry_rounds.hpp -- rounds of futile attempts that repeat exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

// Gangs that do not fit may wake one another: each gang that gives up its nodes lets the next one
// try. The scheduler then tries the same units in the same order with the same outcomes, round
// after round, until another event happens. There can be thousands of attempts per simulated
// second.
//
// Once a round has repeated often enough, one slow round replaces n rounds. Each attempt in the
// slow round counts n times and takes n times as long. Every state that the scheduler passes
// through also lasts n times as long. So whatever adds up over time (GPU time held, waits, busy
// time) has the same sum as after n rounds, and the slow round ends when the n-th round would end.
// The last round before the next event is never slow, because the times of its failures and the
// ends of its backoffs must be exact.
//
// Example: 80 attempts of 250 us make a round of 20 ms, and the next event is 6 s away. One slow
// round of 5.98 s replaces 299 rounds; the 300th round takes 20 ms.
class RetryRounds {
 public:
  struct Attempt {
    uint64_t mark;  // equal for attempts with the same effects
    Time began;
    Duration cost;  // cost of one attempt, even in a slow round
  };
  struct Limits {
    Time next_event;                     // next event that is not one of these attempts
    Duration length_max;                 // longest slow round
    uint64_t attempts_max = UINT64_MAX;  // most attempts that a slow round may count as
  };

  // Forgets the round. Must be called at every event that may change the result of an attempt.
  void interrupted();
  // Returns true if a slow round may start with the next attempt. The caller must then call
  // begin(), which decides whether a slow round starts.
  bool is_due() {
    if (slow_left_ > 0) return false;
    factor_ = 1;
    return is_known_ && at_ == 0 && matched_ >= kRoundsSeen &&
           crossed_ >= std::min(kSecondsSeen, (steps_.size() + 1) / 2);
  }
  void begin(Time now, const Limits& limits);
  int64_t factor() const { return factor_; }  // how often an attempt counts now
  void ran(const Attempt& attempt);
  Time last_began() const { return began_; }  // start of the last whole round; valid if is_due()

 private:
  struct Step {
    uint64_t mark;
    Duration cost;
    // As in Knuth-Morris-Pratt: among the steps up to this one, the length of the longest proper
    // prefix that is also a suffix.
    uint32_t border;
  };
  void follow(const Attempt& attempt);
  void search(const Attempt& attempt);

  // Each unit of a round fails at least once per round. So after 32 rounds all backoffs have
  // doubled up to their maximum.
  static constexpr uint32_t kRoundsSeen = 32;
  // Backoffs end at whole seconds, and the end of a backoff may change the order of units. So a
  // slow round starts only after whole seconds have begun at kSecondsSeen different steps of the
  // round, and the order has stayed the same. In a round with fewer than 16 steps, half of the
  // steps, rounded up, are enough.
  static constexpr size_t kSecondsSeen = 8;
  static constexpr size_t kStepsFirst = 64, kStepsMax = size_t{1} << 20;

  std::vector<Step> steps_;  // steps of the search; later the steps of the round
  size_t steps_max_ = kStepsFirst;
  bool is_known_ = false;
  size_t at_ = 0;         // index of the next step in the round
  uint32_t matched_ = 0;  // whole rounds so far that repeated the steps
  Duration length_;
  Time began_, ended_;             // when the present round began, and when the last attempt ended
  Time quiet_until_;               // Limits::next_event at the last call of begin()
  std::vector<bool> has_crossed_;  // by step: whether a whole second has begun there
  size_t crossed_ = 0;
  size_t slow_left_ = 0;  // steps left in the slow round; 0: no slow round
  int64_t factor_ = 1;
};

}  // namespace orrery

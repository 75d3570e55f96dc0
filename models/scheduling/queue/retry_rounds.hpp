// models/scheduling/queue/retry_rounds.hpp -- rounds of futile attempts that repeat exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

// Gangs that do not fit may wake one another: each gang that gives up its nodes lets the next one
// try. The scheduler then goes through the same units in the same order with the same outcomes, up
// to 3,000 attempts a simulated second, until another event happens.
//
// Once a round has repeated often enough, one slow round is carried out for n rounds: each of its
// attempts counts n times and takes n times as long. All states of the round last n times as long,
// so whatever adds up over time (GPU time held, waits, busy time) comes out as after n rounds, and
// the slow round ends when the n-th round would. The last round before the next event is never
// slow, so that the times of failures and the ends of backoffs are those of the last round.
//
// Example: 80 attempts of 250 us make a round of 20 ms, and the next event is 6 s away. One slow
// round of 5.98 s stands for 299 rounds; the 300th takes 20 ms.
class RetryRounds {
 public:
  struct Attempt {
    uint64_t mark;  // equal for attempts with equal effects
    Time began;
    Duration cost;  // of one attempt, also in a slow round
  };
  struct Limits {
    Time next_event;                     // next event other than these attempts
    Duration length_max;                 // of a slow round
    uint64_t attempts_max = UINT64_MAX;  // attempts that a slow round may count
  };

  // Forgets the round. Must be called at any event that may change the result of an attempt.
  void interrupted();
  // Whether the next attempt may start a slow round; `begin` then decides.
  bool is_due() {
    if (slow_left_ > 0) return false;
    factor_ = 1;
    return is_known_ && at_ == 0 && matched_ >= kRoundsSeen &&
           crossed_ >= std::min(kSecondsSeen, (steps_.size() + 1) / 2);
  }
  void begin(Time now, const Limits& limits);
  int64_t factor() const { return factor_; }  // how often an attempt counts now
  void ran(const Attempt& attempt);
  Time last_began() const { return began_; }  // the last whole round, if `is_due`

 private:
  struct Step {
    uint64_t mark;
    Duration cost;
    uint32_t border;  // length of the longest proper prefix of the steps so far that is a suffix
  };
  void follow(const Attempt& attempt);
  void search(const Attempt& attempt);

  // After 32 rounds backoffs have grown to their maximum, so each unit fails at least once a round.
  static constexpr uint32_t kRoundsSeen = 32;
  // Backoffs end at whole seconds, which may change the order of units. A round counts as
  // independent of the seconds once a whole second has begun at that many of its steps.
  static constexpr size_t kSecondsSeen = 8;
  static constexpr size_t kStepsFirst = 64, kStepsMax = size_t{1} << 20;

  std::vector<Step> steps_;  // of the search, or of the round once it is known
  size_t steps_max_ = kStepsFirst;
  bool is_known_ = false;
  size_t at_ = 0;                  // the next step of the round
  uint32_t matched_ = 0;           // whole rounds that matched
  Duration length_;                // of the round
  Time began_, ended_;             // when the present round began, and when the last attempt ended
  Time quiet_until_;               // the next event at the last call of `begin`
  std::vector<bool> has_crossed_;  // by step: see kSecondsSeen
  size_t crossed_ = 0;
  size_t slow_left_ = 0;  // remaining steps of the slow round
  int64_t factor_ = 1;
};

}  // namespace orrery

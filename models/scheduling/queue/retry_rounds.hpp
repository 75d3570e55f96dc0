// models/scheduling/queue/retry_rounds.hpp -- rounds of futile attempts that repeat exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

// Gangs that do not fit may wake one another: each that gives up its nodes lets the next one try.
// The scheduler then goes through the same units in the same order with the same outcomes, up to
// 3,000 attempts a simulated second, until some other event happens.
//
// Once a round has repeated often enough, one round is carried out for n of them: each of its
// attempts counts n times and takes n times as long. All states of the round last n times as long,
// so whatever adds up over time (GPU time held, waits, busy time) comes out as after n rounds, and
// the n-th round ends at the same instant. At least one round at the usual pace follows before the
// next event, so that the times of failures and the ends of backoffs are those of the last round.
//
// Example: 80 attempts of 318 us make a round of 25 ms. The next event is 6 s away: one round
// stands for 233, and lasts 5.9 s; the next rounds last 25 ms again.
class RetryRounds {
 public:
  struct Attempt {
    uint64_t fingerprint;  // of the unit, what became of it, and what it left behind
    Time began;
    Duration cost;  // at the usual pace
  };

  // Something else has happened: what was seen so far says nothing about the next attempts.
  void interrupted();
  struct Limits {
    Time next_event;                     // other than these attempts
    Duration length_max;                 // of a slow round
    uint64_t attempts_max = UINT64_MAX;  // that it may count
  };
  // For how many attempts the next one stands. Called before each attempt; `limits`, a search, gets
  // the time at which the last round began.
  template <class LimitsNow>
  int64_t repeats(Time now, LimitsNow&& limits) {
    if (slow_left_ == 0) {
      factor_ = 1;
      if (is_due()) begin(now, limits(now - round_));
    }
    return factor_;
  }
  int64_t repeats() const { return factor_; }  // of the attempt that runs or ran last
  void ran(const Attempt& attempt);

 private:
  struct Step {
    uint64_t fingerprint;
    Duration cost;
    uint32_t border;  // length of the longest border of the steps up to this one
  };
  bool is_due() const {
    return is_known_ && at_ == 0 && matched_ >= kRoundsSeen &&
           crossed_ >= std::min(kSecondsSeen, (steps_.size() + 1) / 2);
  }
  void begin(Time now, const Limits& limits);
  void follow(const Attempt& attempt);
  void search(const Attempt& attempt);
  void cross_second();

  // Backoffs have grown to their maximum by then: each unit fails at least once a round.
  static constexpr uint32_t kRoundsSeen = 32;
  // Backoffs end at whole seconds, which may change the order of units. A round has not been found
  // to depend on that once so many of its steps were the first after a whole second.
  static constexpr size_t kSecondsSeen = 8;
  static constexpr size_t kStepsFirst = 64, kStepsMax = size_t{1} << 20;

  std::vector<Step> steps_;  // searched for a round, or the round itself
  size_t steps_max_ = kStepsFirst;
  bool is_known_ = false;
  size_t at_ = 0;         // within the round: the next step
  uint32_t matched_ = 0;  // whole rounds that were as expected
  Time ended_;            // when the last step ended
  Duration round_;        // how long one takes
  Time quiet_until_;      // no other event comes before, as seen from the round before this one
  std::vector<bool> has_crossed_;  // by step: see kSecondsSeen
  size_t crossed_ = 0;
  size_t slow_left_ = 0;  // steps of the slow round that are to come
  int64_t factor_ = 1;
};

}  // namespace orrery

// models/scheduling/queue/retry_rounds.hpp -- rounds of futile attempts that repeat exactly.
#pragma once

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
// next event, so that times of failures and backoffs are those of the last round.
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
  // For how many attempts the next one stands, if nothing else happens before `next_event` and at
  // most `attempts_max` may be counted. Called before each attempt.
  template <class NextEvent>
  int64_t repeats(Time now, NextEvent&& next_event, uint64_t attempts_max) {
    if (slow_left_ == 0) {
      factor_ = 1;
      if (is_due()) begin(now, next_event(), attempts_max);
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
  bool is_due() const { return is_known_ && at_ == 0 && matched_ >= kRoundsSeen; }
  void begin(Time now, Time next_event, uint64_t attempts_max);
  void follow(const Attempt& attempt);
  void search(const Attempt& attempt);

  // Backoffs have grown to their maximum by then: each unit fails at least once a round.
  static constexpr uint32_t kRoundsSeen = 32;
  static constexpr size_t kStepsFirst = 64, kStepsMax = size_t{1} << 20;

  std::vector<Step> steps_;  // searched for a round, or the round itself
  size_t steps_max_ = kStepsFirst;
  bool is_known_ = false;
  size_t at_ = 0;         // within the round: the next step
  uint32_t matched_ = 0;  // whole rounds that were as expected, at the usual pace
  Time since_, ended_;    // when the first step began, and the last one ended
  Duration round_;        // how long one takes
  size_t slow_left_ = 0;  // steps of the slow round that are to come
  int64_t factor_ = 1;
};

}  // namespace orrery

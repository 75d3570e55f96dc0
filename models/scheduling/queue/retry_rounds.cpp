#include "models/scheduling/queue/retry_rounds.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr size_t kPeriodsFound = 4;  // a round is found once it has run this often in a row
constexpr int64_t kFactorMin = 4;    // a slow round that replaces fewer rounds saves too little
// After begin() refused a slow round that would replace too few rounds, this many rounds pass
// before begin() is called again.
constexpr uint32_t kRoundsRefused = 4;
constexpr uint64_t kCountMax = uint64_t{1} << 32;  // most attempts that a slow round may count as

int64_t second_of(Time t) { return t.ns / 1'000'000'000; }

}  // namespace

void RetryRounds::interrupted() {
  if (steps_.empty()) return;
  steps_.clear();
  steps_max_ = kStepsFirst;
  is_known_ = false;
  slow_left_ = 0;
}

void RetryRounds::begin(Time now, const Limits& limits) {
  // A slow round starts only after a quiet round, in which nothing but its attempts happened. By
  // the end of a quiet round, all effects of earlier events have shown. At least one whole round
  // lies between two calls of begin(). quiet_until_ is the time of the event that was next at the
  // previous call. If that event is still to come, the round was quiet.
  const bool was_quiet = std::exchange(quiet_until_, limits.next_event) > now;
  if (!was_quiet || length_ <= Duration{}) return;
  const int64_t before_event = (limits.next_event - now).ns / length_.ns;
  const int64_t factor =
      std::min({before_event - 1, limits.length_max.ns / length_.ns,
                static_cast<int64_t>(std::min(limits.attempts_max, kCountMax) / steps_.size())});
  if (factor < kFactorMin) {
    matched_ -= kRoundsRefused;
    return;
  }
  ORRERY_MARK("scheduling.slow_round");
  factor_ = factor;
  slow_left_ = steps_.size();
}

void RetryRounds::ran(const Attempt& attempt) {
  if (attempt.began != ended_) interrupted();  // there was a pause: the scheduler was idle
  ended_ = attempt.began + attempt.cost * factor_;
  is_known_ ? follow(attempt) : search(attempt);
}

void RetryRounds::follow(const Attempt& attempt) {
  const Step& expected = steps_[at_];
  const Step& before = steps_[at_ == 0 ? steps_.size() - 1 : at_ - 1];
  if (expected.mark != attempt.mark || expected.cost != attempt.cost) {
    if (slow_left_ > 0) {
      ORRERY_MARK("scheduling.slow_round_broken");
    } else {
      ORRERY_MARK("scheduling.round_broken");
    }
    return interrupted();
  }
  if (at_ == 0) began_ = attempt.began;
  if (second_of(attempt.began) != second_of(attempt.began - before.cost) && !has_crossed_[at_]) {
    has_crossed_[at_] = true;
    ++crossed_;
  }
  if (slow_left_ > 0) --slow_left_;
  at_ = (at_ + 1) % steps_.size();
  if (at_ == 0) matched_ = std::min(matched_ + 1, kRoundsSeen);
}

// Finds the shortest period of the steps so far, by the border table of Knuth, Morris and Pratt.
// A search that begins with a step outside all rounds finds no period. So a search that has
// steps_max_ steps and no period is dropped. A new search begins at the present step, and
// steps_max_ doubles.
// Example: X A B A B A B has no period, but a search that starts after X finds the period A B.
void RetryRounds::search(const Attempt& attempt) {
  if (steps_.size() == steps_max_) {
    steps_.clear();
    steps_max_ = std::min(2 * steps_max_, kStepsMax);
  }
  const auto is_same = [&](const Step& step) {
    return step.mark == attempt.mark && step.cost == attempt.cost;
  };
  uint32_t border = steps_.empty() ? 0 : steps_.back().border;
  while (border > 0 && !is_same(steps_[border])) border = steps_[border - 1].border;
  if (!steps_.empty() && is_same(steps_[border])) ++border;
  steps_.push_back({attempt.mark, attempt.cost, border});
  const size_t period = steps_.size() - border;
  if (steps_.size() < kPeriodsFound * period) return;
  // steps_ now holds kPeriodsFound copies of one period. Only one copy is kept.
  steps_.resize(period);
  is_known_ = true;
  at_ = 0;
  matched_ = kPeriodsFound;
  length_ = {};
  for (const Step& step : steps_) length_ += step.cost;
  began_ = ended_ - length_;
  quiet_until_ = {};
  has_crossed_.assign(period, false);
  crossed_ = 0;
}

}  // namespace orrery

#include "models/scheduling/queue/retry_rounds.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Backoffs end at whole seconds, which may change the order of a round.
constexpr int64_t kSecondsSeen = 2;
constexpr int64_t kFactorMin = 4;  // below that a slow round saves too little

int64_t second_of(Time t) { return t.ns / 1'000'000'000; }

}  // namespace

void RetryRounds::interrupted() {
  if (steps_.empty()) return;
  steps_.clear();
  steps_max_ = kStepsFirst;
  is_known_ = false;
  slow_left_ = 0;
}

void RetryRounds::begin(Time now, Time next_event, uint64_t attempts_max) {
  if (second_of(now) - second_of(since_) < kSecondsSeen || round_ <= Duration{}) return;
  // One round at the usual pace fits before the event, and another for what differs by rounding.
  const int64_t rounds = (next_event - now).ns / round_.ns - 2;
  const auto counted =
      static_cast<int64_t>(std::min<uint64_t>(attempts_max, uint64_t{1} << 40) / steps_.size());
  const int64_t factor = std::min(rounds, counted);
  if (factor < kFactorMin) return;
  ORRERY_MARK("scheduling.slow_round");
  factor_ = factor;
  slow_left_ = steps_.size();
}

void RetryRounds::ran(const Attempt& attempt) {
  if (attempt.began != ended_) interrupted();  // the scheduler was idle before
  ended_ = attempt.began + attempt.cost * factor_;
  is_known_ ? follow(attempt) : search(attempt);
}

void RetryRounds::follow(const Attempt& attempt) {
  const Step& expected = steps_[at_];
  if (expected.fingerprint != attempt.fingerprint || expected.cost != attempt.cost) {
    ORRERY_MARK("scheduling.round_broken");
    interrupted();
    return;
  }
  const bool is_slow = slow_left_ > 0;
  if (is_slow) --slow_left_;
  at_ = (at_ + 1) % steps_.size();
  if (at_ > 0) return;
  // The round after a slow one is not slow.
  matched_ = is_slow ? kRoundsSeen - 1 : std::min(matched_ + 1, kRoundsSeen);
}

// Knuth, Morris and Pratt's table of borders tells the shortest period of the steps seen so far. A
// search that has not found one begins anew, with twice as many steps: what came before the first
// round must not be part of it.
void RetryRounds::search(const Attempt& attempt) {
  if (steps_.size() == steps_max_) {
    steps_.clear();
    steps_max_ = std::min(2 * steps_max_, kStepsMax);
  }
  if (steps_.empty()) since_ = attempt.began;
  const auto is_same = [&](const Step& step) {
    return step.fingerprint == attempt.fingerprint && step.cost == attempt.cost;
  };
  uint32_t border = steps_.empty() ? 0 : steps_.back().border;
  while (border > 0 && !is_same(steps_[border])) border = steps_[border - 1].border;
  if (!steps_.empty() && is_same(steps_[border])) ++border;
  steps_.push_back({attempt.fingerprint, attempt.cost, border});
  const size_t period = steps_.size() - border;
  if (steps_.size() < 4 * period) return;
  steps_.resize(period);  // the next step is the first of a round, if whole rounds were seen
  is_known_ = true;
  at_ = 0;
  matched_ = 4;
  round_ = {};
  for (const Step& step : steps_) round_ += step.cost;
}

}  // namespace orrery

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

// The distribution of delays between now and a pushed event. Each distribution stresses a
// different part of the event queue's timing wheel.
enum class Delays { AllNow, FewInstants, Near, Mixed, Far, Crowded, Spread };

struct Storm {
  uint64_t seed;
  Delays delays;
  uint64_t cancel_percent;
  // Mean number of pushes by an event, while fewer than `target` events are pending.
  uint64_t fan_out;
  size_t target;  // number of pending events at the start, and limit for pushes by events
};

// Compares the event queue with an ordered map, during random pushes and cancellations. Most of
// these come from inside running events.
class Rehearsal {
 public:
  explicit Rehearsal(const Storm& storm) : storm_{storm}, rng_{storm.seed} {}

  void run(int rounds) {
    for (size_t i = 0; i < storm_.target; ++i) push();
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      const uint64_t kind = rng_.below(10);
      if (kind == 0) {
        run_until(Duration{delay().ns / 2});
      } else if (kind == 1 && expected_.size() < storm_.target) {
        push();
      } else {
        engine_.step();
      }
      ASSERT_EQ(engine_.pending(), expected_.size());
      ASSERT_EQ(engine_.next_time(), first_time());
    }
    is_winding_down_ = true;
    ASSERT_EQ(engine_.run(), Engine::Outcome::Drained);
    ASSERT_TRUE(expected_.empty());
  }
  uint64_t events_run() const { return engine_.events_run(); }

 private:
  using Key = std::tuple<int64_t, int, uint64_t>;

  Duration delay() {
    switch (storm_.delays) {
      case Delays::AllNow:
        return {};
      case Delays::FewInstants:
        return {static_cast<int64_t>(rng_.below(3)) * 1000};
      case Delays::Near:
        return {static_cast<int64_t>(rng_.below(7))};
      case Delays::Mixed:
        return {static_cast<int64_t>(rng_.next() >> (1 + rng_.below(63)))};
      case Delays::Far:
        return rng_.chance(0.1) ? Duration::max()
                                : Duration{static_cast<int64_t>(rng_.below(1000))};
      // Nine in ten events are at the next multiple of 4096 ns, the others at most 4095 ns ahead.
      case Delays::Crowded:
        return rng_.chance(0.9) ? Duration{4096 - engine_.now().ns % 4096}
                                : Duration{static_cast<int64_t>(rng_.below(4096))};
      case Delays::Spread:  // 4,900 pushes up to 4 ms ahead, then 700 within 8 us, and so on
        return Duration{static_cast<int64_t>(
            rng_.below(pushed_ / 700 % 8 == 7 ? uint64_t{1} << 13 : uint64_t{1} << 22))};
    }
    return {};
  }
  Time first_time() const {
    return expected_.empty() ? Time::max() : Time{std::get<0>(expected_.begin()->first)};
  }
  void run_until(Duration span) {
    const Time end = engine_.now() + span;
    const auto outcome = engine_.run(end);
    ASSERT_GT(first_time().ns, expected_.empty() ? 0 : end.ns);
    ASSERT_EQ(outcome == Engine::Outcome::Drained, expected_.empty());
    if (outcome == Engine::Outcome::ReachedEnd) {
      ASSERT_EQ(engine_.now(), end);
    }
  }
  void push() {
    const Time when = engine_.now() + delay();
    const auto phase = static_cast<Phase>(rng_.below(kPhases));
    const uint64_t number = pushed_++;
    const Key key{when.ns, static_cast<int>(phase), number};
    const EventId id = engine_.at(
        when, Label{"test.event"}, [this, key] { run_event(key); }, phase);
    expected_.emplace(key, id);
    keys_.push_back(key);
  }
  void run_event(const Key& key) {
    ASSERT_FALSE(expected_.empty());
    ASSERT_EQ(expected_.begin()->first, key);
    ASSERT_EQ(engine_.now().ns, std::get<0>(key));
    ASSERT_FALSE(engine_.is_pending(expected_.begin()->second));
    ASSERT_FALSE(engine_.cancel(expected_.begin()->second));
    expected_.erase(expected_.begin());
    if (is_winding_down_) return;
    for (uint64_t i = rng_.below(2 * storm_.fan_out + 1); i > 0; --i) {
      if (expected_.size() < storm_.target && pushed_ < 60'000) push();
    }
    while (rng_.below(100) < storm_.cancel_percent) cancel_any();
  }
  void cancel_any() {
    const Key key = keys_[rng_.below(keys_.size())];
    const auto found = expected_.find(key);
    if (found == expected_.end()) return;
    ASSERT_TRUE(engine_.is_pending(found->second));
    ASSERT_TRUE(engine_.cancel(found->second));
    ASSERT_FALSE(engine_.is_pending(found->second));
    expected_.erase(found);
  }

  Storm storm_;
  Rng rng_;
  Engine engine_;
  uint64_t pushed_ = 0;
  bool is_winding_down_ = false;
  std::map<Key, EventId> expected_;
  std::vector<Key> keys_;
};

class EventOrder : public ::testing::TestWithParam<Delays> {};

TEST_P(EventOrder, IsTimeThenPhaseThenScheduleOrder) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 2 : 8); ++seed) {
    for (const uint64_t cancel_percent : {0u, 40u, 80u}) {
      for (const size_t target : {3u, 90u, 3000u}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", cancelling " +
                     std::to_string(cancel_percent) + " %, pending " + std::to_string(target));
        Rehearsal rehearsal{{seed, GetParam(), cancel_percent, 2, target}};
        rehearsal.run(400);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllDelays, EventOrder,
                         ::testing::Values(Delays::AllNow, Delays::FewInstants, Delays::Near,
                                           Delays::Mixed, Delays::Far, Delays::Crowded));

TEST(EventOrder, HoldsWhenAThousandEventsFillTheFrontFromInsideOneBucket) {
  Rehearsal rehearsal{{99, Delays::Near, 10, 600, 5000}};
  rehearsal.run(3000);
  EXPECT_GT(rehearsal.events_run(), 3000u);
}

TEST(EventOrder, HoldsWhenMoreEventsArePendingThanTheCacheKeeps) {
  for (const Delays delays :
       {Delays::Mixed, Delays::Crowded, Delays::Far, Delays::Near, Delays::Spread}) {
    for (const uint64_t fan_out : {2u, 600u}) {
      Rehearsal rehearsal{{5, delays, 30, fan_out, 30'000}};
      rehearsal.run(300);
      EXPECT_GT(rehearsal.events_run(), 20'000u);
    }
  }
}

}  // namespace
}  // namespace orrery

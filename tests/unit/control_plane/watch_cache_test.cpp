#include "models/control_plane/watch_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/core/rng.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

TEST(WatchCache, ItRemembersTheNewestAHundredOfSlowChanges) {
  WatchCache cache;
  for (int i = 1; i <= 1'000; ++i) cache.append(Time{} + 10_s * i, 1);
  EXPECT_EQ(cache.room(), 100U);
  EXPECT_TRUE(cache.can_resume(1'000));
  EXPECT_TRUE(cache.can_resume(900));
  EXPECT_FALSE(cache.can_resume(899)) << "410 Gone";
}

TEST(WatchCache, ItGrowsUntilItLastsSeventyFiveSeconds) {
  WatchCache cache;
  for (int i = 1; i <= 20'000; ++i) cache.append(Time{} + 10_ms * i, 1);  // 7,500 in 75 s
  EXPECT_EQ(cache.room(), 12'800U);
  EXPECT_EQ(cache.held(), 12'800U);
  EXPECT_DOUBLE_EQ(watch_cache_span(100).seconds(), 128);
}

TEST(WatchCache, ItNeverHoldsMoreThanItsMost) {
  WatchCache cache;
  cache.append(Time{} + 1_s, 1'000'000);
  EXPECT_EQ(cache.room(), WatchCache::kRoomMax);
  EXPECT_EQ(cache.held(), WatchCache::kRoomMax);
  EXPECT_FALSE(cache.can_resume(0));
  EXPECT_DOUBLE_EQ(watch_cache_span(102'400).seconds(), 1);
  EXPECT_EQ(cache.memory(1'000_B), Bytes{102'400'000});
}

TEST(WatchCache, ItShrinksOnceChangesGetRare) {
  WatchCache cache;
  for (int i = 1; i <= 20'000; ++i) cache.append(Time{} + 10_ms * i, 1);
  for (int i = 1; i <= 20'000; ++i) cache.append(Time{} + 200_s + 1_s * i, 1);
  EXPECT_EQ(cache.room(), 200U) << "a quarter of 400 lasts 100 s, a quarter of 200 only 50 s";
}

TEST(WatchCache, ALostServerRemembersNothingButCountsOn) {
  WatchCache cache;
  cache.append(Time{}, 50);
  cache.clear();
  EXPECT_EQ(cache.version(), 50U);
  EXPECT_FALSE(cache.can_resume(49));
  EXPECT_TRUE(cache.can_resume(50));
}

// The same rule over a plain list of single changes.
TEST(WatchCache, ItHoldsWhatAPlainListHolds) {
  Rng rng{11};
  WatchCache cache;
  std::vector<Time> plain;
  uint64_t room = WatchCache::kRoomMin;
  Time now;
  for (int step = 0; step < 20'000; ++step) {
    const double rate = (step / 4'000) % 2 == 0 ? 20 : 0.5;
    now = now + nearest_ns(rng.exponential() / rate);
    if (plain.size() == room) {
      if (now - plain.front() < 75_s)
        room = std::min<uint64_t>(2 * room, 102'400);
      else if (now - plain[plain.size() - room / 4] > 75_s)
        room = std::max<uint64_t>(room / 2, 100);
      if (plain.size() > room)
        plain.erase(plain.begin(), plain.end() - static_cast<std::ptrdiff_t>(room));
      if (plain.size() == room) plain.erase(plain.begin());
    }
    plain.push_back(now);
    cache.append(now, 1);
    ASSERT_EQ(cache.held(), plain.size()) << step;
    ASSERT_EQ(cache.room(), room) << step;
  }
}

}  // namespace
}  // namespace orrery

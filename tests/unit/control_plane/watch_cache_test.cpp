#include "models/control_plane/api_server/watch_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/control_plane/api_server/watch_caches.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

TEST(WatchCache, ItRemembersTheNewestAHundredOfSlowChanges) {
  WatchCache cache;
  for (int i = 1; i <= 1'000; ++i) cache.append(Time{} + 10_s * i, 1);
  const Time now = Time{} + 10'000_s;
  EXPECT_EQ(cache.room(), 100U);
  EXPECT_TRUE(cache.can_resume(now, now));
  EXPECT_TRUE(cache.can_resume(now, Time{} + 9'000_s)) << "the last that is forgotten was seen";
  EXPECT_FALSE(cache.can_resume(now, Time{} + 9'000_s - 1_ns)) << "410 Gone";
}

TEST(WatchCache, ThatOfAServerThatWasNeverLostKnowsAllUntilItIsFull) {
  WatchCache cache;
  for (int i = 1; i <= 100; ++i) cache.append(Time{} + 10_s * i, 1);
  EXPECT_TRUE(cache.can_resume(Time{} + 1'000_s, Time{}));
  cache.append(Time{} + 1'010_s, 1);
  EXPECT_FALSE(cache.can_resume(Time{} + 1'010_s, Time{}));
}

TEST(WatchCache, ItGrowsUntilItLastsSeventyFiveSeconds) {
  WatchCache cache;
  // At 100 changes a second, 75 s need a capacity of 7,500. The capacity doubles from 100 until it
  // is enough: 12,800.
  for (int i = 1; i <= 20'000; ++i) cache.append(Time{} + 10_ms * i, 1);
  EXPECT_EQ(cache.room(), 12'800U);
  EXPECT_EQ(cache.held(), 12'800U);
}

TEST(WatchCache, ItNeverHoldsMoreThanItsMost) {
  WatchCache cache;
  cache.append(Time{} + 1_s, 1'000'000);
  EXPECT_EQ(cache.room(), WatchCache::kRoomMax);
  EXPECT_EQ(cache.held(), WatchCache::kRoomMax);
  EXPECT_FALSE(cache.can_resume(Time{} + 2_s, Time{}));
  EXPECT_TRUE(cache.can_resume(Time{} + 2_s, Time{} + 1_s));
}

TEST(WatchCache, ItShrinksOnceChangesGetRare) {
  WatchCache cache;
  for (int i = 1; i <= 20'000; ++i) cache.append(Time{} + 10_ms * i, 1);
  for (int i = 1; i <= 20'000; ++i) cache.append(Time{} + 200_s + 1_s * i, 1);
  EXPECT_EQ(cache.room(), 200U) << "a quarter of 400 lasts 100 s, a quarter of 200 only 50 s";
}

TEST(WatchCache, ALostServerRemembersNothingOfBefore) {
  WatchCache cache;
  cache.append(Time{}, 50);
  cache.clear(Time{} + 1_min);
  EXPECT_EQ(cache.held(), 0U);
  EXPECT_FALSE(cache.can_resume(Time{} + 2_min, Time{} + 59_s)) << "though none changed since";
  EXPECT_TRUE(cache.can_resume(Time{} + 2_min, Time{} + 1_min));
}

TEST(WatchCache, ItHoldsWhatAPlainListHolds) {
  Rng rng{11};
  WatchCache cache;
  std::vector<Time> plain;
  uint64_t room = WatchCache::kRoomMin;
  Time now, forgotten;
  const auto keep = [&](uint64_t newest) {
    const auto end = plain.end() - static_cast<std::ptrdiff_t>(newest);
    if (end == plain.begin()) return;
    forgotten = *(end - 1);
    plain.erase(plain.begin(), end);
  };
  for (int step = 0; step < 20'000; ++step) {
    const double rate = (step / 4'000) % 2 == 0 ? 20 : 0.5;
    now = now + nearest_ns(rng.exponential() / rate);
    if (plain.size() == room) {
      if (now - plain.front() < 75_s)
        room = std::min<uint64_t>(2 * room, 102'400);
      else if (now - plain[plain.size() - room / 4] > 75_s)
        room = std::max<uint64_t>(room / 2, 100);
      if (plain.size() > room) keep(room);
      if (plain.size() == room) keep(room - 1);
    }
    plain.push_back(now);
    cache.append(now, 1);
    ASSERT_EQ(cache.held(), plain.size()) << step;
    ASSERT_EQ(cache.room(), room) << step;
    ASSERT_TRUE(cache.can_resume(now, forgotten)) << step;
    ASSERT_EQ(cache.can_resume(now, forgotten - 1_ns), forgotten == Time{}) << step;
  }
}

// How far back the cache reaches, to the millisecond.
Duration memory_of(WatchCache& cache, Time now) {
  Duration most = 1_h, least{};
  while (most - least > 1_ms) {
    const Duration middle{(most + least).ns / 2};
    (cache.can_resume(now, now - middle) ? least : most) = middle;
  }
  return least;
}

// The capacity starts at 100 changes, and doubles until it covers 75 s or reaches 102,400 changes.
// The cache then reaches back for capacity / rate seconds.
TEST(WatchCache, OfSteadyChangesItRemembersAsManyAsOfSingleOnes) {
  for (const double rate : {0.5, 3.0, 100.0, 1'000.0, 20'000.0}) {
    double room = 100;
    while (room < 102'400 && room / rate < 75) room *= 2;
    WatchCache steady;
    steady.set_rate(Time{}, rate);
    const Time now = Time{} + 2_h;
    EXPECT_NEAR(memory_of(steady, now).seconds(), room / rate, room / rate / 10) << rate;
    EXPECT_EQ(static_cast<double>(steady.room()), room) << rate;
    EXPECT_EQ(steady.held(), steady.room()) << rate;
  }
}

TEST(WatchCache, SteadyChangesAreTheSameHoweverOftenItIsAsked) {
  WatchCache often, seldom;
  for (WatchCache* cache : {&often, &seldom}) cache->set_rate(Time{}, 40);
  Rng rng{3};
  Time now;
  while (now < Time{} + 1_h) {
    now = now + nearest_ns(20 * rng.uniform());
    static_cast<void>(often.can_resume(now, now));
  }
  EXPECT_EQ(often.room(), 3'200U);
  EXPECT_NEAR(memory_of(often, now).seconds(), 80, 8);
  EXPECT_NEAR(memory_of(seldom, now).seconds(), 80, 8);
  for (WatchCache* cache : {&often, &seldom}) cache->set_rate(now, 0);
  EXPECT_TRUE(seldom.can_resume(now + 1_h, now)) << "nothing changed since";
}

TEST(WatchCache, AfterALongRestASteadyRateMakesItsRoomAsItWouldHaveBeen) {
  WatchCache cache;
  cache.set_rate(Time{}, 5'000);
  static_cast<void>(cache.can_resume(Time{} + 10_min, Time{}));
  EXPECT_EQ(cache.room(), WatchCache::kRoomMax);
  cache.set_rate(Time{} + 10_min, 0.5);
  static_cast<void>(cache.can_resume(Time{} + 30_d, Time{}));
  EXPECT_EQ(cache.room(), 100U);
}

void run_to(Engine& engine, Duration when) {
  engine.at(Time{} + when, Label{"test.then"}, [] {});
  engine.run();
}

TEST(WatchCaches, EachServerKnowsAllUntilItIsLost) {
  Engine engine;
  WatchCaches caches{engine, 3};
  caches.keep(ApiResource::Pods);
  const auto at = [&](Duration when) { run_to(engine, when); };
  at(10_s);
  caches.changed(ApiResource::Pods);
  at(20_s);
  caches.restart(1);
  at(30_s);
  caches.changed(ApiResource::Pods);
  EXPECT_TRUE(caches.resume(0, ApiResource::Pods, Time{}));
  EXPECT_FALSE(caches.resume(1, ApiResource::Pods, Time{} + 15_s));
  EXPECT_TRUE(caches.resume(1, ApiResource::Pods, Time{} + 25_s)) << "seen elsewhere meanwhile";
  EXPECT_EQ(caches.gone(1), 1U);
  EXPECT_EQ(caches.gone(), 1U);
  caches.restart(2);
  caches.restart(1);
  EXPECT_TRUE(caches.resume(0, ApiResource::Pods, Time{}));
  EXPECT_FALSE(caches.resume(1, ApiResource::Pods, Time{} + 25_s));
  EXPECT_FALSE(caches.resume(2, ApiResource::Pods, Time{} + 25_s));
}

TEST(WatchCaches, SteadyChangesGoOnInThatOfAServerThatComesBack) {
  Engine engine;
  WatchCaches caches{engine, 2};
  caches.keep(ApiResource::Pods);
  caches.set_rate(ApiResource::Pods, 20'000);  // 102,400 changes last 5.12 s at this rate
  run_to(engine, 1_min);
  caches.restart(0);
  run_to(engine, 2_min);
  for (const uint32_t server : {0U, 1U}) {
    EXPECT_TRUE(caches.resume(server, ApiResource::Pods, Time{} + 116_s));
    EXPECT_FALSE(caches.resume(server, ApiResource::Pods, Time{} + 114_s));
  }
}

}  // namespace
}  // namespace orrery

#include "models/control_plane/etcd/etcd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "models/control_plane/etcd/etcd_memory.hpp"
#include "models/control_plane/etcd/etcd_split.hpp"
#include "sim/core/rng.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

struct EtcdWorld {
  explicit EtcdWorld(const EtcdParams& params = {}) : etcd{engine, params} {}
  EtcdAnswer write(Bytes bytes = {300}, EtcdChange change = EtcdChange::Update) {
    const auto logged = [this, bytes, change](bool is_committed) {
      if (is_committed) etcd.store({.bytes = bytes, .change = change});
      (is_committed ? done : failed).push_back(engine.now());
    };
    return etcd.propose({.bytes = bytes, .is_deletion = change == EtcdChange::Delete}, logged);
  }
  void run(Duration until) {
    engine.at(Time{} + until, Label{"test.end"}, [] {});
    engine.run(Time{} + until);
  }

  Engine engine;
  Etcd etcd;
  std::vector<Time> done, failed;
};

TEST(Etcd, ALoneWriteTakesTheTimeOfItsDisk) {
  for (const auto& [disk, latency] :
       {std::pair{EtcdDisk::LocalSsd, 200_us}, std::pair{EtcdDisk::NetworkSsd, 2_ms},
        std::pair{EtcdDisk::Hdd, 10_ms}}) {
    EtcdWorld world{{.disk = disk}};
    EXPECT_EQ(world.write(), EtcdAnswer::Accepted);
    world.run(1_s);
    EXPECT_EQ(world.done, std::vector{Time{} + latency});
  }
}

TEST(Etcd, WhatComesDuringACommitIsTakenAlongByTheNext) {
  EtcdWorld world{{.commit_latency = 1_ms}};
  for (int i = 0; i < 10; ++i) ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
  EXPECT_EQ(world.etcd.waiting(), 10U);
  world.run(1_s);
  std::vector<Time> expected(10, Time{} + 2_ms);
  expected[0] = Time{} + 1_ms;
  EXPECT_EQ(world.done, expected);
  EXPECT_EQ(world.etcd.counters().commits, 2U);
}

TEST(Etcd, AFastStoreAnswersInTheSameInstant) {
  EtcdWorld world{{.commit_latency = Duration{}, .read_latency = {}}};
  ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
  world.etcd.read({.bytes = 100_MiB}, [&] { world.done.push_back(world.engine.now()); });
  world.run(1_s);
  EXPECT_EQ(world.done, (std::vector<Time>(2)));
}

// A LIST of 300 MB takes 240 ms of transfer, and CPU time of 8 us per object and 5.2 ns per byte.
// Five members together serve one LIST every 240 ms / 5 = 48 ms, so the second ends 48 ms later.
TEST(Etcd, AListIsReadObjectByObject) {
  EtcdWorld world;
  const Etcd::Read list{.bytes = {300'000'000}, .objects = 300'000};
  for (int i = 0; i < 2; ++i) {
    world.etcd.read(list, [&] { world.done.push_back(world.engine.now()); });
  }
  world.run(10_s);
  ASSERT_EQ(world.done.size(), 2U);
  EXPECT_EQ(world.done[0], Time{} + 240_ms + 2'400_ms + 1'560_ms);
  EXPECT_EQ(world.done[1], world.done[0] + 48_ms);
}

TEST(Etcd, SteadyWritesCostNoEventsAndDelayOthersAsOftenAsTheyCommit) {
  EtcdWorld world{{.commit_latency = 1_ms}};
  world.etcd.set_steady_load({.writes_per_s = 1'000});
  EXPECT_EQ(world.engine.pending(), 0U);
  ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
  world.run(1_s);
  // With probability 1/e, no write arrives during a commit of 1 ms; etcd is then idle for 1 ms on
  // average. So a commit is under way 1 / (1 + 1/e) of the time, on average with 0.5 ms left.
  const double wait = 0.5e-3 / (1 + std::exp(-1.0));
  EXPECT_NEAR(world.done[0].seconds(), 1e-3 + wait, 1e-8);
}

TEST(Etcd, SteadyWritesOfSeveralSourcesAddUp) {
  EtcdWorld world;
  world.etcd.set_steady_load({.writes_per_s = 10}, SteadySource::Heartbeats);
  world.etcd.set_steady_load({.writes_per_s = 5}, SteadySource::CrashLoops);
  EXPECT_EQ(world.etcd.steady_writes_per_s(), 15);
  world.etcd.set_steady_load({.writes_per_s = 1}, SteadySource::CrashLoops);
  EXPECT_EQ(world.etcd.steady_writes_per_s(), 11);
}

// Five members read at 10 Gb/s each, so 625 MB block the database for 0.1 s.
TEST(Etcd, AReadHoldsUpTheWritesAfterItOnlyWhereItLocksTheDatabase) {
  for (const bool blocks : {false, true}) {
    EtcdWorld world{{.commit_latency = 1_ms, .blocking_reads = blocks}};
    world.etcd.read({.bytes = {625'000'000}}, [] {});
    ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
    world.run(1_s);
    EXPECT_NEAR(world.done.at(0).seconds(), blocks ? 0.101 : 0.001, 1e-6);
  }
}

// A LIST moves 100 MB in 80 ms, then needs 1.32 s of a core.
TEST(Etcd, AListLocksTheDatabaseForAsLongAsItIsRead) {
  const Bytes size{100'000'000};
  for (const bool blocks : {false, true}) {
    EtcdWorld world{{.commit_latency = 1_ms, .blocking_reads = blocks}};
    Time read;
    world.etcd.read({.bytes = size, .objects = 100'000}, [&] { read = world.engine.now(); });
    ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
    // This small LIST ends before the large one, but must not unlock the database.
    world.etcd.read({.bytes = {1000}, .objects = 1}, [] {});
    world.engine.at(Time{} + 100_ms, Label{"test.write"},
                    [&] { ASSERT_EQ(world.write(), EtcdAnswer::Accepted); });
    world.run(5_s);
    EXPECT_NEAR(read.seconds(), 0.08 + 1.32, 1e-6);
    const double unlocked = 0.08 / 5 + 1.32;  // reads are spread over five members
    EXPECT_NEAR(world.done.at(0).seconds(), blocks ? unlocked + 0.001 : 0.001, 1e-6);
    EXPECT_NEAR(world.done.at(1).seconds(), blocks ? unlocked + 0.002 : 0.101, 1e-6);
  }
}

// Members 0 and 1 of three fail at 500 us, and member 1 is back at `until`. at() schedules a call.
struct QuorumLoss {
  explicit QuorumLoss(Duration until) {
    world.engine.after(500_us, Label{"test.members_lost"}, [this] {
      world.etcd.set_member_up(0, false);
      world.etcd.set_member_up(1, false);
    });
    world.engine.at(Time{} + until, Label{"test.member_back"},
                    [this] { world.etcd.set_member_up(1, true); });
  }
  template <class F>
  void at(Duration when, F ask) {
    world.engine.at(Time{} + when, Label{"test.asked"}, ask);
  }
  EtcdWorld world{{.members = 3, .commit_latency = 1_ms}};
};

TEST(Etcd, NothingIsCommittedWithoutAQuorumAndNothingIsLost) {
  QuorumLoss loss{5_s};
  EtcdWorld& world = loss.world;
  ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
  int read = 0;
  loss.at(3_s, [&] { world.etcd.read({.bytes = 300_B}, [&] { ++read; }); });
  world.run(5'500_ms);
  EXPECT_TRUE(world.done.empty());
  EXPECT_EQ(world.etcd.counters().writes, 0U) << "it was not committed";
  EXPECT_EQ(read, 0);
  world.run(20_s);
  EXPECT_EQ(world.done, std::vector{Time{} + 6_s + 1_ms});
  EXPECT_TRUE(world.failed.empty());
  EXPECT_EQ(world.etcd.counters().writes, 1U);
  EXPECT_EQ(read, 1);
  EXPECT_EQ(world.etcd.counters().elections, 1U);
}

// A write without a leader fails after 7 s: five seconds and two election timeouts of one second.
TEST(Etcd, AWriteThatNoLeaderTakesFailsAndIsNeverCarriedOut) {
  QuorumLoss loss{1_min};
  EtcdWorld& world = loss.world;
  ASSERT_EQ(world.write(100_B, EtcdChange::Create), EtcdAnswer::Accepted);
  for (const Duration when : {2_s, 3_s, 55_s}) {
    loss.at(when, [&] { ASSERT_EQ(world.write(7_B, EtcdChange::Create), EtcdAnswer::Accepted); });
  }
  world.run(2_min);
  EXPECT_EQ(world.failed, (std::vector{Time{} + 7_s, Time{} + 9_s, Time{} + 10_s}));
  EXPECT_EQ(world.done, std::vector{Time{} + 61_s + 1_ms});
  EXPECT_EQ(world.etcd.live(), 7_B);
  EXPECT_EQ(world.etcd.counters().writes, 1U);
  EXPECT_EQ(world.etcd.counters().timed_out, 3U);
  EXPECT_EQ(world.etcd.waiting(), 0U);
}

TEST(Etcd, NothingIsDoneForWhomeverHasGivenUpBeforeThereIsALeader) {
  QuorumLoss loss{30_s};
  EtcdWorld& world = loss.world;
  int read = 0;
  std::vector<bool> logged;
  const auto tell = [&](bool is_committed) { logged.push_back(is_committed); };
  loss.at(26_s, [&] {
    ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
    ASSERT_EQ(world.etcd.propose({.bytes = 7_B, .until = Time{} + 31_s}, tell),
              EtcdAnswer::Accepted);
    ASSERT_EQ(world.etcd.propose({.bytes = 7_B, .until = Time{} + 32_s}, tell),
              EtcdAnswer::Accepted);
    world.etcd.read({.bytes = 7_B, .until = Time{} + 31_s}, [&] { read += 1; });
    world.etcd.read({.bytes = 7_B, .until = Time{} + 32_s}, [&] { read += 10; });
  });
  world.run(1_min);
  EXPECT_EQ(world.done.size(), 1U);
  EXPECT_EQ(logged, (std::vector{false, true}));
  EXPECT_EQ(world.etcd.counters().timed_out, 1U);
  EXPECT_EQ(world.etcd.counters().reads, 1U);
  EXPECT_EQ(read, 10);
}

TEST(Etcd, LosingAFollowerDelaysNothing) {
  EtcdWorld world{{.members = 3, .commit_latency = 1_ms}};
  ASSERT_EQ(world.write(), EtcdAnswer::Accepted);
  world.etcd.set_member_up(2, false);
  world.run(1_s);
  EXPECT_EQ(world.done, std::vector{Time{} + 1_ms});
}

TEST(Etcd, ATooLargeRequestIsRejected) {
  EtcdWorld world;
  EXPECT_EQ(world.write(Bytes{1'572'864}), EtcdAnswer::Accepted);
  EXPECT_EQ(world.write(Bytes{1'572'865}), EtcdAnswer::TooLarge);
  world.run(1_s);
  EXPECT_EQ(world.done.size(), 1U);
  EXPECT_EQ(world.etcd.counters().too_large, 1U);
}

TEST(Etcd, BeyondItsQuotaOnlyDeletionsAreAcceptedUntilItIsDefragmented) {
  EtcdWorld world{{.quota = 10_MiB}};
  int alarms = 0;
  world.etcd.news.connect([&](EtcdNews news, uint32_t) { alarms += news == EtcdNews::OutOfSpace; });
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(world.write(1_MiB, EtcdChange::Create), EtcdAnswer::Accepted);
  EXPECT_EQ(world.etcd.live(), 0_B) << "nothing is there before it is committed";
  world.run(1_s);
  EXPECT_EQ(world.write(1_B), EtcdAnswer::OutOfSpace);
  EXPECT_EQ(world.write(1_B, EtcdChange::Event), EtcdAnswer::OutOfSpace);
  EXPECT_EQ(world.write(8_MiB, EtcdChange::Delete), EtcdAnswer::Accepted);
  world.run(1_h);
  EXPECT_EQ(world.write(1_B), EtcdAnswer::OutOfSpace) << "compaction does not shrink the file";
  EXPECT_EQ(world.etcd.file(), 10_MiB);
  EXPECT_EQ(world.etcd.in_use(), 2_MiB);
  world.etcd.shrink();
  EXPECT_EQ(world.write(1_B), EtcdAnswer::Accepted);
  EXPECT_EQ(alarms, 1);
}

TEST(Etcd, SteadyWritesFillItWhenTheyShouldAndThenStop) {
  EtcdWorld world{{.quota = 100_MiB, .compaction_interval = {}}};
  std::vector<Time> alarms;
  world.etcd.news.connect([&](EtcdNews, uint32_t) { alarms.push_back(world.engine.now()); });
  world.etcd.set_steady_load({.writes_per_s = 10, .stored = {.update_bytes_per_s = 1 << 20}});
  world.run(1_h);
  ASSERT_EQ(alarms.size(), 1U);
  EXPECT_NEAR(alarms[0].seconds(), 100, 1e-6);
  EXPECT_EQ(world.etcd.file(), 100_MiB);
  EXPECT_LE(world.engine.events_run(), 3U);
}

TEST(Etcd, WithCompactionTheSameWritesNeverFillIt) {
  EtcdWorld world{{.quota = 700_MiB}};
  world.etcd.set_steady_load({.writes_per_s = 10, .stored = {.update_bytes_per_s = 1 << 20}});
  world.run(24_h);
  EXPECT_FALSE(world.etcd.is_out_of_space());
  EXPECT_EQ(world.etcd.file(), 600_MiB);  // 1 MiB a second over two compaction intervals of 5 min
  EXPECT_EQ(world.engine.events_run(), 1U) << "that of the test";
}

TEST(Etcd, EventsMayHaveAnEtcdOfTheirOwn) {
  Engine engine;
  EtcdSplit together{engine, {.quota = 1_GiB}},
      apart{engine, {.quota = 1_GiB, .separate_events = true}};
  for (EtcdSplit* etcd : {&together, &apart}) {
    etcd->events().set_steady_load({.stored = {.event_bytes_per_s = 1e6}});
  }
  engine.run(Time{} + 4_h);
  EXPECT_TRUE(together.objects().is_out_of_space());
  EXPECT_FALSE(apart.objects().is_out_of_space());
  EXPECT_TRUE(apart.events().is_out_of_space());
}

TEST(Etcd, ReadsShareTheMembers) {
  EtcdWorld world{{.members = 1, .read_latency = 1_ms, .read_rate_max = 1'000}};
  for (int i = 0; i < 100; ++i) {
    world.etcd.read({.bytes = 1_B}, [&] { world.done.push_back(world.engine.now()); });
  }
  world.run(10_s);
  ASSERT_EQ(world.done.size(), 100U);
  EXPECT_EQ(world.done.front(), Time{} + 1_ms);
  EXPECT_EQ(world.done.back(), Time{} + 100_ms);
}

TEST(MvccStore, EventsAreCountedUntilTheyExpire) {
  MvccStore store{5_min, 1_h};
  store.add_event(Time{}, 100_B);
  EXPECT_EQ(store.live(Time{} + 1_h), 100_B);
  EXPECT_EQ(store.live(Time{} + 66_min), 0_B);
  EXPECT_EQ(store.in_use(Time{} + 66_min), 100_B);
  EXPECT_EQ(store.in_use(Time{} + 76_min), 0_B);
  EXPECT_EQ(store.file(Time{} + 76_min), 100_B);
}

TEST(MvccStore, AnEventThatIsWrittenAgainGetsANewLifetime) {
  MvccStore store{5_min, 1_h};
  store.add_event(Time{}, 100_B);
  store.add_event(Time{} + 1_min, 100_B, Time{});  // rewritten in the same compaction interval
  store.add_event(Time{} + 31_min, 100_B, Time{} + 1_min);  // rewritten in a later interval
  EXPECT_EQ(store.events(Time{} + 31_min), 100_B);
  EXPECT_EQ(store.in_use(Time{} + 31_min), 200_B) << "with the version before";
  EXPECT_EQ(store.in_use(Time{} + 41_min), 100_B);
  EXPECT_EQ(store.events(Time{} + 91_min), 100_B);
  EXPECT_EQ(store.events(Time{} + 96_min), 0_B);
  store.add_event(Time{} + 3_h, 100_B, Time{} + 31_min);  // the Event has expired
  EXPECT_EQ(store.events(Time{} + 3_h), 100_B);
  EXPECT_EQ(store.count(Time{} + 3_h).keys, 1);
}

TEST(MvccStore, KeysAndVersionsAreCountedUntilTheyAreCompacted) {
  MvccStore store{5_min, 1_h};
  const auto expect = [&](Duration at, int64_t keys, int64_t versions) {
    const MvccStore::Count count = store.count(Time{} + at);
    EXPECT_EQ(count.keys, keys) << at.seconds();
    EXPECT_EQ(count.versions, versions) << at.seconds();
  };
  store.create({}, 100_B, 10);
  store.add_event({}, 100_B);
  expect({}, 11, 11);
  for (int i = 0; i < 3; ++i) store.update(Time{} + 1_min, 10_B, 10_B);
  store.update(Time{} + 1_min, 0_B, 0_B);  // an empty update adds no version
  store.remove(Time{} + 1_min, 10_B);
  expect(1_min, 10, 14);
  expect(6_min, 10, 14);
  expect(11_min, 10, 10);
  store.set_rates(Time{} + 2_h, {.updates_per_s = 1});
  expect(2_h, 9, 9);
  expect(2_h + 4_min, 9, 9 + 240);
  expect(4_h - 1_s, 9, 9 + 300 + 299);
}

TEST(MvccStore, ItsSizeDoesNotDependOnHowOftenItIsAsked) {
  Rng rng{7};
  MvccStore often{5_min, 1_h}, seldom{5_min, 1_h};
  for (MvccStore* store : {&often, &seldom}) {
    store->set_rates({}, {.update_bytes_per_s = 1'000, .event_bytes_per_s = 500});
  }
  Time now;
  for (int i = 0; i < 2'000; ++i) {
    now = now + nearest_ns(rng.uniform() * 100);
    often.in_use(now);
  }
  EXPECT_NEAR(static_cast<double>(often.in_use(now).count),
              static_cast<double>(seldom.in_use(now).count), 2);
  EXPECT_NEAR(static_cast<double>(often.file(now).count),
              static_cast<double>(seldom.file(now).count), 2);
}

TEST(MvccStore, AfterALongRestTheHighestItWasIsNotForgotten) {
  MvccStore store{5_min, 1_h};
  store.set_rates({}, {.update_bytes_per_s = 10});
  store.update(Time{} + 1_s, 1_MiB, 1_MiB);
  EXPECT_EQ(store.file(Time{} + 1_d * 30), Bytes{(1 << 20) + 2 * 3'000});
  EXPECT_EQ(store.in_use(Time{} + 1_d * 30), Bytes{3'000});
}

TEST(MvccStore, ItKnowsWhenSteadyWritesWillFillIt) {
  Rng rng{9};
  int found = 0, never = 0;
  for (int round = 0; round < 300; ++round) {
    const bool compacts = rng.chance(0.8);
    MvccStore store{compacts ? nearest_ns(60 + 600 * rng.uniform()) : Duration{},
                    nearest_ns(60 + 3'600 * rng.uniform())};
    store.create({}, Bytes{static_cast<int64_t>(rng.below(100'000))});
    const Time now = Time{} + nearest_ns(rng.uniform() * 5'000);
    store.set_rates(
        now, {.update_bytes_per_s = rng.uniform() * 500, .event_bytes_per_s = rng.uniform() * 200});
    const Bytes size{static_cast<int64_t>(100'000 + rng.below(1'000'000))};
    const Time when = store.reaches(now, size);
    if (when == Time::max()) {
      ++never;
      EXPECT_LT(store.file(now + 1_d * 30), size) << round;
      continue;
    }
    ++found;
    if (when > now + 1_s) {
      EXPECT_LT(MvccStore{store}.file(when - 1_s), size) << round;
    }
    EXPECT_GE(store.file(when + 1_s), size) << round;
  }
  EXPECT_GT(found, 50);
  EXPECT_GT(never, 50);
}

TEST(EtcdParams, WrongValuesAreRejected) {
  EXPECT_TRUE(test::mistakes_of<EtcdParams>("{members: 3, disk: hdd}").empty());
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{members: 0}").size(), 1U);
  EXPECT_TRUE(test::mistakes_of<EtcdParams>("{members: 4}").empty()) << "only a warning";
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{disk: floppy}").size(), 1U);
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{quota: 1MiB}").size(), 1U);
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{compaction_interval: 1ms}").size(), 1U);
  EXPECT_EQ(test::mistakes_of<EtcdParams>("{write_rate_max: 0}").size(), 1U);
}

}  // namespace
}  // namespace orrery

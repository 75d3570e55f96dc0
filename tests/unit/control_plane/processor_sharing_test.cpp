#include "models/control_plane/base/processor_sharing.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

struct Cores {
  explicit Cores(double cores)
      : sharing{engine, cores, Label{"test.done"},
                [this](uint32_t job) { ends[job] = engine.now(); }} {}
  Engine engine;
  std::map<uint32_t, Time> ends;
  ProcessorSharing sharing;
};

TEST(IndexedHeap, KeepsTheLeastOnTopWhileKeysChange) {
  Rng rng{4};
  IndexedHeap<double> heap;
  std::map<uint32_t, double> keys;
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<uint32_t>(rng.below(50));
    const auto key = static_cast<double>(rng.below(100));
    if (!heap.contains(id)) {
      heap.push(id, key);
      keys[id] = key;
    } else if (rng.chance(0.5)) {
      heap.erase(id);
      keys.erase(id);
    } else {
      heap.update(id, key);
      keys[id] = key;
    }
    ASSERT_EQ(heap.size(), keys.size());
    std::set<std::pair<double, uint32_t>> sorted;
    for (const auto& [k, v] : keys) sorted.emplace(v, k);
    if (sorted.empty()) continue;
    ASSERT_EQ(heap.top(), sorted.begin()->second);
  }
}

TEST(ProcessorSharing, AJobAloneTakesItsOwnTimeToTheNanosecond) {
  Cores c{64};
  c.sharing.add(0, Duration{123'456'789});
  c.engine.run();
  EXPECT_EQ(c.ends[0], Time{123'456'789});
}

TEST(ProcessorSharing, NoJobIsFasterThanOneCore) {
  Cores c{2};
  c.sharing.add(0, 10_ms);
  c.sharing.add(1, 20_ms);
  c.engine.run();
  EXPECT_EQ(c.ends[0], Time{} + 10_ms);
  EXPECT_EQ(c.ends[1], Time{} + 20_ms);
}

TEST(ProcessorSharing, JobsShareOneCoreEqually) {
  Cores c{1};
  c.sharing.add(0, 10_ms);
  c.sharing.add(1, 20_ms);
  c.engine.after(5_ms, Label{"test.late"}, [&] { c.sharing.add(2, 5_ms); });
  c.engine.run();
  // Two jobs share the core until 5 ms, and each has done 2.5 ms. Then three share it: job 2 has
  // done its 5 ms at 20 ms, jobs 0 and 1 have done 7.5 ms each. Job 0 ends at 25 ms. Job 1 runs
  // alone for its last 10 ms.
  EXPECT_EQ(c.ends[2], Time{} + 20_ms);
  EXPECT_EQ(c.ends[0], Time{} + 25_ms);
  EXPECT_EQ(c.ends[1], Time{} + 35_ms);
  EXPECT_NEAR(c.sharing.work_done(), 0.035, 1e-9);
}

TEST(ProcessorSharing, WhatIsErasedLeavesItsShareToTheOthers) {
  Cores c{1};
  c.sharing.add(0, 10_ms);
  c.sharing.add(1, 10_ms);
  c.engine.after(10_ms, Label{"test.erase"}, [&] { c.sharing.erase(1); });
  c.engine.run();
  EXPECT_EQ(c.ends[0], Time{} + 15_ms);
  EXPECT_FALSE(c.ends.contains(1));
}

TEST(ProcessorSharing, FewerCoresSlowDownWhatIsInService) {
  Cores c{1};
  c.sharing.add(0, 10_ms);
  c.engine.after(5_ms, Label{"test.slow"}, [&] { c.sharing.set_cores(0.5); });
  c.engine.run();
  EXPECT_EQ(c.ends[0], Time{} + 15_ms);
}

TEST(ProcessorSharing, NothingIsServedAfterClear) {
  Cores c{1};
  c.sharing.add(0, 10_ms);
  c.sharing.clear();
  c.sharing.add(0, 20_ms);
  c.engine.run();
  EXPECT_EQ(c.ends[0], Time{} + 20_ms);
  EXPECT_EQ(c.engine.events_run(), 1U);
}

TEST(ProcessorSharing, AlikeJobsEndTogetherInTheOrderOfTheirIds) {
  Cores c{3};
  for (uint32_t job = 0; job < 7; ++job) c.sharing.add(job, 3_ms);
  c.engine.run();
  for (uint32_t job = 0; job < 7; ++job) EXPECT_EQ(c.ends[job], Time{} + 7_ms);
}

}  // namespace
}  // namespace orrery

// RetryRounds replaces many equal rounds of futile attempts by one round that takes as long as all
// of them. Runs with and without this replacement must give the same tables and summary figures.
// The worlds are small and random, and have gangs that do not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <variant>

#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Gangs of several pods on few nodes. Some gangs run, some fit later, some never fit. Nodes fail,
// jobs end and jobs arrive while the scheduler is in the middle of a round of futile attempts. The
// timeline samples every 1 to 30 s.
struct CrowdedWorld {
  Rng rng;

  std::string number(uint64_t least, uint64_t most) {
    return std::to_string(least + rng.below(most - least + 1));
  }
  std::string profile() {
    static const std::array<std::string, 5> kProfiles{
        "base: coscheduling", "base: koordinator", "base: strict_gang, driver: per_pod",
        "base: coscheduling, plugins: [{name: Coscheduling, args: {podGroupBackoffSeconds: 3}}]",
        "base: koordinator, queue: {pop_from_backoff: false}"};
    return kProfiles[rng.below(kProfiles.size())];
  }
  std::string job(uint64_t j) {
    std::string text = "        - {name: j" + std::to_string(j) + ", count: " + number(1, 4) +
                       ", submit: " + number(0, 40) + "s, work: " + number(5, 90) +
                       "s, pods: " + number(2, 6) + ", pod: {gpus: " + number(2, 8) + "}";
    if (rng.chance(0.2)) text += ", priority: " + number(0, 1);
    if (rng.chance(0.3)) {
      text += ", training: {schedule_timeout: " + number(0, 1) + "s}";
    } else if (rng.chance(0.3)) {
      text += ", training: {schedule_timeout: " + number(2, 30) + "s}";
    }
    return text + "}\n";
  }
  std::string yaml() {
    std::string text = "cluster: {pools: [{name: n, machine: dgx-a100, count: " + number(2, 6) +
                       "}]}\nworkload:\n  sources:\n    - kind: jobs\n      jobs:\n";
    const uint64_t jobs = 2 + rng.below(4);
    for (uint64_t j = 0; j < jobs; ++j) text += job(j);
    if (rng.chance(0.3)) {
      text += "faults: {list: [{node: n-0, at: " + number(10, 60) + "s, repair: 20s}]}\n";
    }
    text += "policy: {" + profile() + ", cost: {per_cycle: " + number(1, 20) + "ms}}\n";
    text += "record: {timeline: {interval: " + number(1, 30) + "s}}\n";
    return text + "run: {" + (rng.chance(0.7) ? "until: " + number(50, 150) + "s" : "") + "}\n";
  }
};

// Compares rows column by column, because the padding between columns is undefined.
void expect_same(const MemoryRecorder::Table& one, const MemoryRecorder::Table& other) {
  ASSERT_EQ(one.bytes.size(), other.bytes.size()) << one.path;
  for (size_t row = 0; row < one.bytes.size(); row += one.row_bytes) {
    for (const Column& column : one.columns) {
      const std::byte* const first = one.bytes.data() + row + column.offset;
      ASSERT_TRUE(std::equal(first, first + column.bytes, other.bytes.data() + row + column.offset))
          << one.path << ", " << column.name << " of row " << row / one.row_bytes;
    }
  }
}

void expect_same(ScenarioRun& quick, ScenarioRun& plain) {
  const auto& tables = plain.recorder.tables();
  ASSERT_EQ(quick.recorder.tables().size(), tables.size());
  for (size_t t = 0; t < tables.size(); ++t) {
    const MemoryRecorder::Table& table = quick.recorder.tables()[t];
    if (table.path.starts_with("/profile") || table.path.starts_with("/meta")) continue;
    expect_same(table, tables[t]);
  }
  ASSERT_EQ(quick.result.summary.size(), plain.result.summary.size());
  for (size_t i = 0; i < plain.result.summary.size(); ++i) {
    const SummaryValue& figure = plain.result.summary[i];
    const auto text = [](const SummaryValue& value) {
      return std::visit([](auto number) { return std::to_string(number); }, value.value);
    };
    EXPECT_EQ(text(quick.result.summary[i]), text(figure)) << figure.name;
  }
}

TEST(RetryRoundsProperty, OneLongRoundIsAsGoodAsManyShortOnes) {
  const uint64_t worlds = test::kIsSanitized ? 40 : 400;
  uint64_t shorter = 0;
  for (uint64_t seed = 0; seed < worlds && !testing::Test::HasFailure(); ++seed) {
    CrowdedWorld world{Rng{seed}};
    const std::string yaml = world.yaml();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + yaml);
    ScenarioRun quick{yaml, {}, {}};
    ScenarioRun plain{yaml, {"run.compress_retries=false"}, {}};
    expect_same(quick, plain);
    if (quick.result.events < plain.result.events / 2) ++shorter;
  }
  EXPECT_GT(shorter, worlds / 10);
}

}  // namespace
}  // namespace orrery

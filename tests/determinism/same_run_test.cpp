// Runs of one scenario with the same seed are equal, whether they run one after another or in
// parallel threads. Runs with different seeds differ.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

constexpr const char* kBusy = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 8}]
workload:
  controller: {pod_start: {median: 2s, sigma: 0.5}}
  training: {checkpoint_interval: 10min, checkpoint_write: 10s, restore: 20s, init: 5s}
  sources:
  - kind: generator
    arrival_rate: 60
    jobs_max: 200
    gpus_per_pod_max: 4
    shape:
      kind: classes
      classes:
      - {weight: 4, gpus: {kind: fixed, value: 1}, duration: {kind: exponential, mean: 10min}}
      - {weight: 1, gpus: {kind: fixed, value: 16}, duration: {kind: exponential, mean: 20min}}
  - kind: jobs
    jobs:
    - {name: elastic, count: 6, every: 1h, work: 30min, pods: 6, min_available: 2, pod: {gpus: 4}}
faults:
  nodes: [{rate: 2000, repair: {kind: fixed, duration: 10min}}]
policy: {tie_break: random, cost: {per_cycle: 100ms}}
record: {attempts: true}
run: {until: 4h}
)";

std::unique_ptr<ScenarioRun> run(const std::string& base, int seed) {
  return std::make_unique<ScenarioRun>(
      kBusy, std::vector<std::string>{"policy.base=" + base, "run.seed=" + std::to_string(seed)});
}

// Compares rows column by column, because the padding between columns is undefined.
bool has_same_bytes(const MemoryRecorder::Table& a, const MemoryRecorder::Table& b) {
  if (a.bytes.size() != b.bytes.size()) return false;
  for (size_t row = 0; row < a.bytes.size(); row += a.row_bytes) {
    for (const Column& c : a.columns) {
      if (std::memcmp(&a.bytes[row + c.offset], &b.bytes[row + c.offset], c.bytes) != 0) {
        return false;
      }
    }
  }
  return true;
}

void expect_same_rows(const MemoryRecorder& a, const MemoryRecorder& b) {
  ASSERT_EQ(a.tables().size(), b.tables().size());
  for (size_t i = 0; i < a.tables().size(); ++i) {
    if (a.tables()[i].path == "/profile") continue;
    EXPECT_EQ(a.tables()[i].path, b.tables()[i].path);
    EXPECT_TRUE(has_same_bytes(a.tables()[i], b.tables()[i])) << a.tables()[i].path;
  }
}

class SameRun : public testing::TestWithParam<const char*> {};

TEST_P(SameRun, GivesTheSameRowsAloneAndBesideOthers) {
  const auto alone = run(GetParam(), 1);
  const auto again = run(GetParam(), 1);
  EXPECT_EQ(alone->result.digest, again->result.digest);
  EXPECT_GT(alone->result.events, 1000u);
  expect_same_rows(alone->recorder, again->recorder);

  std::array<std::unique_ptr<ScenarioRun>, 4> parallel;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < parallel.size(); ++i) {
    threads.emplace_back([&, i] { parallel[i] = run(GetParam(), i % 2 == 0 ? 1 : 2); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(parallel[0]->result.digest, alone->result.digest);
  expect_same_rows(parallel[0]->recorder, alone->recorder);
  expect_same_rows(parallel[2]->recorder, alone->recorder);
  EXPECT_NE(parallel[1]->result.digest, alone->result.digest);
  EXPECT_EQ(parallel[1]->result.digest, parallel[3]->result.digest);
  expect_same_rows(parallel[1]->recorder, parallel[3]->recorder);
}
INSTANTIATE_TEST_SUITE_P(Profiles, SameRun,
                         testing::Values("default", "coscheduling", "koordinator", "strict_gang",
                                         "native_gang"));

}  // namespace
}  // namespace orrery

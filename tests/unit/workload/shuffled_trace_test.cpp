#include <gtest/gtest.h>

#include <algorithm>

#include "models/scheduling/typical_pods.hpp"
#include "models/workload/traces/synthesis/shuffle.hpp"
#include "models/workload/workload_params.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_all;
using test::ReadTrace;

std::string pods(int count) {
  std::string text =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n";
  for (int i = 0; i < count; ++i) {
    text += "p" + std::to_string(i) + ",1000,1024," + (i % 4 == 0 ? "2,1000" : "1,500");
    text += ",,LS,Running," + std::to_string(i) + ",100,99\n";
  }
  return text;
}

ReadTrace read_shuffled(const std::string& text, const ShuffleParams& params, uint64_t seed,
                        int64_t gpu_milli_total = 0) {
  TraceParams trace;
  trace.file = "jobs.csv";
  trace.warm_start = false;
  return read_all(*shuffled(open_trace_text(trace, text), params, Rng{seed}, gpu_milli_total));
}

int64_t demand(const ReadTrace& trace) {
  int64_t sum = 0;
  for (const TraceJob& job : trace.jobs) sum += job.gpu_milli_total();
  return sum;
}

TEST(ShuffledTrace, HasEachJobOnceInAnotherOrderAtEvenIntervals) {
  ReadTrace one = read_shuffled(pods(50), {.interval = 2_s, .load = {}}, 1);
  const ReadTrace other = read_shuffled(pods(50), {.interval = 2_s, .load = {}}, 2);
  EXPECT_EQ(one.error, "");
  EXPECT_NE(one.names, other.names);
  for (size_t i = 0; i < one.jobs.size(); ++i) {
    EXPECT_EQ(one.jobs[i].submit, Time{} + 2_s * static_cast<int64_t>(i));
  }
  std::ranges::sort(one.names);
  EXPECT_EQ(std::ranges::unique(one.names).size(), 0U);
  EXPECT_EQ(one.names.size(), 50U);
}

TEST(ShuffledTrace, JobsAreDrawnAgainUntilTheLoadIsReached) {
  const int64_t capacity = 100 * kMilli;
  const ReadTrace trace = read_shuffled(pods(40), {.load = 1.3}, 1, capacity);
  EXPECT_LE(demand(trace), 130 * kMilli + kMilli) << "of the last job only one GPU counts";
  EXPECT_GT(demand(trace), 129 * kMilli);
  std::vector<std::string> once{trace.names.begin(), trace.names.begin() + 40};
  std::ranges::sort(once);
  EXPECT_EQ(std::ranges::unique(once).size(), 0U) << "the whole list comes first";
}

TEST(ShuffledTrace, JobsAreLeftOutIfTheyAskForMoreThanTheLoad) {
  const ReadTrace trace = read_shuffled(pods(40), {.load = 0.1}, 1, 100 * kMilli);
  EXPECT_LE(demand(trace), 10 * kMilli);
  EXPECT_GT(trace.jobs.size(), 0U);
}

TEST(ShuffledTrace, AListThatBreaksOffHasNoJobs) {
  const ReadTrace trace = read_shuffled(pods(3) + "p9,x\n", {}, 1);
  EXPECT_EQ(trace.jobs.size(), 0U);
  EXPECT_NE(trace.error, "");
}

TEST(TypicalPods, AreTheMostFrequentOnesUpToTheirShare) {
  test::TemporaryFile file{pods(100)};
  WorkloadParams params;
  TraceSourceParams trace;
  trace.file = file.path();
  params.sources.emplace_back(trace);
  params.typical_pods = TypicalPodsParams{.popularity = 75};
  const std::vector<TypicalPod> most = typical_pods_of(params, RngStreams{1});
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].gpu_milli, 500);
  EXPECT_EQ(most[0].weight, 75);
  params.typical_pods->popularity = 76;
  EXPECT_EQ(typical_pods_of(params, RngStreams{1}).size(), 2U);
}

}  // namespace
}  // namespace orrery

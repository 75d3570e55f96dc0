// Sorting more jobs than fit in memory, and counting distinct numbers in bounded memory.
#include "models/workload/traces/job_sorter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/workload/traces/tables/distinct_counter.hpp"
#include "sim/core/rng.hpp"

namespace orrery::traces {
namespace {

std::vector<TraceJob> shuffled_jobs(int64_t count, uint64_t instants) {
  Rng rng = RngStreams{7}.stream("test");
  std::vector<TraceJob> jobs;
  for (int64_t i = 0; i < count; ++i) {
    TraceJob job;
    job.id = i;
    job.submit = Time{static_cast<int64_t>(rng.below(instants))};
    job.name = TraceName{std::to_string(i)};
    jobs.push_back(job);
  }
  return jobs;
}

std::vector<int64_t> ids_of(const std::vector<TraceJob>& jobs) {
  std::vector<int64_t> ids;
  for (const TraceJob& job : jobs) ids.push_back(job.id);
  return ids;
}

TEST(JobSorter, RunsThatWentToAFileAreMergedInTheOrderOfAStableSort) {
  for (const int64_t count : {0, 1, 10, 1000, 1001, 12'345}) {
    const std::vector<TraceJob> jobs = shuffled_jobs(count, 500);
    JobSorter sorter{1000};
    for (const TraceJob& job : jobs) sorter.add(job);
    EXPECT_EQ(sorter.size(), jobs.size());
    EXPECT_EQ(sorter.has_spilled(), count > 1000);
    std::vector<TraceJob> sorted;
    while (sorter.size() > 0) sorted.push_back(sorter.pop());
    EXPECT_EQ(sorter.error(), "");
    std::vector<TraceJob> expected = jobs;
    std::ranges::stable_sort(expected, {}, &TraceJob::submit);
    EXPECT_EQ(ids_of(sorted), ids_of(expected)) << count;
    for (size_t i = 0; i < sorted.size(); i += 999) {
      EXPECT_EQ(sorted[i].name.view(), expected[i].name.view());
    }
  }
}

TEST(DistinctCounter, IsExactUntilItKeepsAsManyAsItMay) {
  DistinctCounter counter{100};
  for (int64_t i = 0; i < 100; ++i) {
    counter.add(i);
    counter.add(i / 2);
  }
  EXPECT_TRUE(counter.is_exact());
  EXPECT_EQ(counter.count(), 100);
  counter.add(100);
  EXPECT_FALSE(counter.is_exact());
}

// The standard error is 1 / sqrt(4096) = 1.6 %. The tolerance is five standard errors.
TEST(DistinctCounter, BeyondThatItIsNearTheTruth) {
  for (const int64_t distinct : {5000, 50'000, 500'000}) {
    DistinctCounter counter{4096};
    for (int64_t i = 0; i < distinct; ++i) {
      counter.add(i);
      counter.add(i / 3);
    }
    EXPECT_FALSE(counter.is_exact());
    const auto truth = static_cast<double>(distinct);
    EXPECT_NEAR(static_cast<double>(counter.count()), truth, 0.08 * truth);
  }
}

}  // namespace
}  // namespace orrery::traces

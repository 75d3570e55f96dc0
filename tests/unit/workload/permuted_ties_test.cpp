#include "models/workload/sources/permuted_ties.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class ListedJobs final : public JobSource {
 public:
  explicit ListedJobs(std::vector<std::pair<std::string, Time>> jobs) {
    for (const auto& [name, at] : jobs) {
      JobSpec& job = jobs_.emplace_back();
      job.name = name;
      job.submitted = at;
    }
  }
  const JobSpec* peek() override { return next_ < jobs_.size() ? &jobs_[next_] : nullptr; }
  void pop() override { ++next_; }
  std::optional<std::string> error() const override {
    return next_ < jobs_.size() ? std::nullopt : error_;
  }
  void fail_at_the_end(const std::string& error) { error_ = error; }

 private:
  std::vector<JobSpec> jobs_;
  size_t next_ = 0;
  std::optional<std::string> error_;
};

constexpr Time kLater = Time{} + 5_s;

std::vector<std::string> order_of(uint64_t seed) {
  JobSources sources;
  sources.add(std::make_unique<ListedJobs>(std::vector<std::pair<std::string, Time>>{
      {"a", {}}, {"b", {}}, {"x", kLater}, {"y", kLater + 1_s}}));
  sources.add(std::make_unique<ListedJobs>(
      std::vector<std::pair<std::string, Time>>{{"c", {}}, {"z", kLater}}));
  PermutedTies ties{std::move(sources), Rng{seed}};
  std::vector<std::string> names;
  for (; ties.peek() != nullptr; ties.pop()) names.push_back(ties.peek()->name);
  return names;
}

TEST(PermutedTies, KeepTheOrderOfTimesAndNoOther) {
  std::set<std::string> starts;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<std::string> names = order_of(seed);
    EXPECT_EQ(names, order_of(seed));
    ASSERT_EQ(names.size(), 6U);
    EXPECT_THAT((std::vector(names.begin(), names.begin() + 3)),
                UnorderedElementsAre("a", "b", "c"));
    EXPECT_THAT((std::vector(names.begin() + 3, names.begin() + 5)),
                UnorderedElementsAre("x", "z"));
    EXPECT_EQ(names.back(), "y");
    starts.insert(names[0] + names[1] + names[2]);
  }
  EXPECT_EQ(starts.size(), 6U) << "all orders of three jobs come up";
}

TEST(PermutedTies, BadInputEndsThem) {
  auto source = std::make_unique<ListedJobs>(
      std::vector<std::pair<std::string, Time>>{{"a", {}}, {"b", kLater}});
  source->fail_at_the_end("jobs.csv:4:1: no number");
  JobSources sources;
  sources.add(std::move(source));
  PermutedTies ties{std::move(sources), Rng{1}};
  EXPECT_EQ(ties.peek()->name, "a");
  ties.pop();
  EXPECT_EQ(ties.peek(), nullptr) << "what follows b was read together with it";
  EXPECT_EQ(ties.error(), "jobs.csv:4:1: no number");
}

}  // namespace
}  // namespace orrery

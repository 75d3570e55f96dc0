#include "models/workload/steps/shared_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/workload/steps/step_tracer.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/sharing_world.hpp"
#include "tests/support/step_errors.hpp"

namespace orrery {
namespace {

using test::kIsSanitized;
using test::quantile_of;
using test::SharingWorld;
using test::StepErrors;

// Four links of 8 Gbit/s, each of which carries 1 GB in a second.
class SharedLinksTest : public ::testing::Test {
 protected:
  SharedLinksTest() {
    for (int i = 0; i < 4; ++i) static_cast<void>(flows.add_link(8_Gbps));
    links.changed.connect([this](JobId job) { logged.push_back(job); });
  }
  // A gang that computes for `compute`, then exchanges 1 GB over each link of `used`.
  static SharingGang gang(const std::vector<uint32_t>& used, Duration compute = 1_s) {
    SharingGang gang{.cycle = {.compute = compute, .working = compute},
                     .bytes = {1'000'000'000},
                     .rate_max = 8e9};
    for (const uint32_t link : used) gang.uses.push_back({{link}});
    return gang;
  }
  double step(uint32_t job) const { return links.step({job}).length.seconds(); }

  Engine engine;
  FlowNetwork flows{engine};
  SharedLinks links{engine, flows};
  std::vector<JobId> logged;
};

TEST_F(SharedLinksTest, AGangAloneStepsInClosedForm) {
  links.set({0}, gang({0, 1}));
  links.set({1}, gang({2}));
  engine.run();
  EXPECT_EQ(links.step({0}).length, 2_s);
  EXPECT_EQ(links.step({0}).across, 1_s);
  EXPECT_EQ(links.steps_rehearsed() + links.rates_expected(), 0U);
}

TEST_F(SharedLinksTest, LikeGangsThatBeginTogetherMeetInEachStep) {
  links.set({0}, gang({0}));
  links.set({1}, gang({0}));
  engine.run();
  EXPECT_NEAR(step(0), 3, 0.01);
  EXPECT_NEAR(step(1), 3, 0.01);
  EXPECT_GT(links.steps_rehearsed(), 0U);
}

TEST_F(SharedLinksTest, LikeGangsThatTakeTurnsLoseNothing) {
  links.set({0}, gang({0}));
  engine.run(Time{} + 1_s);
  engine.advance_to(Time{} + 1_s);
  links.set({1}, gang({0}));
  engine.run();
  EXPECT_NEAR(step(0), 2, 0.01);
  EXPECT_NEAR(step(1), 2, 0.01);
}

// The link carries the exchanges of four gangs in each step. Each exchange takes 1 s alone, so a
// step takes a bit more than 4 s.
TEST_F(SharedLinksTest, GangsThatFillALinkStepAsFastAsItCarriesThem) {
  for (uint32_t g = 0; g < 4; ++g) links.set({g}, gang({0, g % 2 + 1}, 1_s + 50_ms * g));
  engine.run();
  for (uint32_t g = 0; g < 4; ++g) EXPECT_NEAR(step(g), 4.2, 0.3);
}

TEST_F(SharedLinksTest, ManyGangsThatFillALinkDoSoToo) {
  for (uint32_t g = 0; g < 40; ++g) links.set({g}, gang({0}));
  engine.run();
  double sum = 0;
  for (uint32_t g = 0; g < 40; ++g) sum += step(g) / 40;
  EXPECT_NEAR(sum, 40, 2);
  EXPECT_GT(links.rates_expected(), 0U);
  EXPECT_EQ(links.steps_rehearsed(), 0U);
}

TEST_F(SharedLinksTest, TheOthersAreReportedWhenOneEndsOrALinkIsAnother) {
  for (uint32_t g = 0; g < 3; ++g) links.set({g}, gang({0}));
  engine.run();
  EXPECT_NEAR(step(0), 4, 0.05);
  logged.clear();
  links.remove({2});
  engine.run();
  EXPECT_EQ(logged, (std::vector<JobId>{{0}, {1}}));
  EXPECT_NEAR(step(0), 3, 0.05);
  flows.set_capacity({0}, 4_Gbps);
  engine.run();
  EXPECT_NEAR(step(0), 5, 0.05);
  flows.set_capacity({0}, {0});
  engine.run();
  EXPECT_EQ(links.step({0}).across, Duration::max());
  flows.set_capacity({0}, 8_Gbps);
  engine.run();
  EXPECT_NEAR(step(1), 3, 0.05);
}

// The gangs end one after another. The last one must step as fast as a gang that was always alone.
TEST_F(SharedLinksTest, TheLastGangOfManyIsAloneAgain) {
  for (uint32_t g = 0; g < 40; ++g) links.set({g}, gang({0, 1 + g % 3}));
  engine.run();
  for (uint32_t g = 39; g > 0; --g) {
    links.remove({g});
    engine.run();
  }
  EXPECT_EQ(links.step({0}).length, 2_s);
}

TEST_F(SharedLinksTest, AGangThatBridgesTwoGroupsMakesThemOne) {
  for (uint32_t g = 0; g < 10; ++g) links.set({g}, gang({0}));
  for (uint32_t g = 10; g < 20; ++g) links.set({g}, gang({1}));
  engine.run();
  EXPECT_EQ(links.rates_expected(), 0U);
  links.set({20}, gang({0, 1}));
  engine.run();
  EXPECT_GE(links.rates_expected(), 21U) << "all of them";
  const uint64_t rehearsed = links.steps_rehearsed();
  links.remove({20});
  engine.run();
  EXPECT_GT(links.steps_rehearsed(), rehearsed) << "two small groups again";
  EXPECT_NEAR(step(0), 11, 0.3) << "ten meet in each step";
}

// Gang 10 belongs to the large group of link 0, whose other gangs exchange rarely. In the instant
// in which gang 0 begins, gang 10 also begins to exchange 10 GB over link 1. The search from gang 0
// finds gang 10, and must go on to gangs 30 and 31, which had link 1 to themselves until then.
// Their steps must then be as long as if all gangs had come together.
TEST_F(SharedLinksTest, AChangedGangOfALargeGroupSlowsASmallGroup) {
  for (uint32_t g = 1; g <= 20; ++g) links.set({g}, gang({0}, 60_s));
  for (const uint32_t g : {30U, 31U}) links.set({g}, gang({1}));
  engine.run();
  EXPECT_NEAR(step(30), 3, 0.01);
  SharingGang changed = gang({0, 1});
  changed.bytes = {10'000'000'000};
  changed.uses[0].weight = 0.1;
  links.set({0}, gang({0}, 60_s));
  links.set({10}, changed);
  engine.run();
  EXPECT_GT(step(30), 3.3);

  SharedLinks together{engine, flows};
  for (uint32_t g = 0; g <= 20; ++g) together.set({g}, g == 10 ? changed : gang({0}, 60_s));
  for (const uint32_t g : {30U, 31U}) together.set({g}, gang({1}));
  engine.run();
  for (const uint32_t g : {30U, 31U}) {
    EXPECT_NEAR(step(g), together.step({g}).length.seconds(), 0.06 * step(g)) << g;
  }
}

// Compares the step durations that SharedLinks computes with those of simulated steps.
// bench/steps.cpp does the same with more gangs.
TEST(SharedLinks, StepsOfRandomGroupsAreNearThoseThatArePlayed) {
  std::vector<double> sizes;
  for (uint64_t seed = 1; seed <= (kIsSanitized ? 6 : 40); ++seed) {
    const SharingWorld world{2 + static_cast<uint32_t>(seed % 15), seed};
    const StepErrors errors{world.by_rate(), world.step_by_step(100, seed)};
    sizes.insert(sizes.end(), errors.sizes.begin(), errors.sizes.end());
  }
  std::ranges::sort(sizes);
  EXPECT_LE(quantile_of(sizes, 0.95), 0.02);
}

TEST(SharedLinks, StepsOfLargeRandomGroupsAreNearThoseThatArePlayed) {
  std::vector<double> sizes;
  for (uint64_t seed = 1; seed <= (kIsSanitized ? 1 : 4); ++seed) {
    const SharingWorld world{20 * static_cast<uint32_t>(seed), seed};
    const StepErrors errors{world.by_rate(), world.step_by_step(100, seed)};
    EXPECT_LE(std::abs(errors.mean), 0.04) << seed;
    sizes.insert(sizes.end(), errors.sizes.begin(), errors.sizes.end());
  }
  std::ranges::sort(sizes);
  EXPECT_LE(quantile_of(sizes, 0.95), 0.1);
}

// A gang that joins a large group changes the load on the links of other gangs. Changes of up to
// 2 % are ignored, so steps may differ a little from those of gangs that came together.
TEST(SharedLinks, GangsThatComeOneByOneStepAsIfTheyCameTogether) {
  for (const uint32_t gangs : {40U, 120U}) {
    const SharingWorld world{gangs, gangs};
    Engine engine;
    FlowNetwork flows{engine};
    for (const double capacity : world.capacities) flows.add_link({std::llround(capacity)});
    SharedLinks links{engine, flows};
    for (uint32_t g = 0; g < gangs; ++g) {
      links.set({g}, world.gangs[g]);
      engine.run();
    }
    std::vector<double> steps;
    for (uint32_t g = 0; g < gangs; ++g) steps.push_back(links.step({g}).length.seconds());
    const StepErrors errors{steps, world.by_rate()};
    EXPECT_LE(std::abs(errors.mean), 0.02) << gangs;
    EXPECT_LE(quantile_of(errors.sizes, 0.95), 0.06) << gangs;
  }
}

TEST(SharedLinks, TheTwoMethodsAgreeWhereOneTakesOver) {
  double mean = 0;
  constexpr uint64_t kWorlds = kIsSanitized ? 4 : 20;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const SharingWorld world{16, seed};
    mean += StepErrors{world.by_rate(1), world.by_rate()}.mean / kWorlds;
  }
  EXPECT_LE(std::abs(mean), 0.03);
}

}  // namespace
}  // namespace orrery

#include "models/workload/contending_gangs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Gangs on one link, whose progress follows what they are told.
class ContendingGangsTest : public ::testing::Test {
 protected:
  struct Gang {
    FlowId flow;
    StepParts shape;
    double done = 0;  // seconds of work, up to `since`
    Time since;
    bool is_running = true;
    int64_t steps = StepPosition::kNever;
  };

  static StepParts parts(Duration compute, Duration exchange) {
    return {.compute = compute,
            .working = compute,
            .bits = 100e9 * exchange.seconds(),
            .rate_max = 100e9};
  }
  JobId add(Duration compute, Duration exchange) {
    const JobId job = add_on({{link}}, compute, exchange);
    gangs->links_change(world.back().flow);
    return job;
  }
  JobId add_on(const std::vector<LinkUse>& uses, Duration compute, Duration exchange) {
    const JobId job{static_cast<uint32_t>(world.size())};
    world.push_back({.flow = flows.open(uses, 100e9),
                     .shape = parts(compute, exchange),
                     .since = engine.now()});
    gangs->gang_changed(job);
    return job;
  }
  Duration step(JobId job) const {
    const StepParts& shape = world[job.index].shape;
    const auto mean = gangs->mean(job);
    if (!mean) return shape.alone();
    return nearest_ns(shape.compute.seconds() * (mean->span.seconds() / mean->work.seconds()));
  }
  void advance(JobId job, Duration at_step) {
    Gang& gang = world[job.index];
    gang.done +=
        (engine.now() - gang.since).seconds() * gang.shape.compute.seconds() / at_step.seconds();
    gang.since = engine.now();
  }
  void begin(PlayAheadParams params) {
    gangs.emplace(engine, flows, params,
                  ContendingGangs::Ask{[this](JobId job) { return told(job); },
                                       [](FlowId flow) { return JobId{flow.index}; }});
    gangs->changed.connect([this](JobId job) {
      steps.resize(world.size(), Duration{});
      const Duration before = steps[job.index];
      advance(job, before > Duration{} ? before : world[job.index].shape.alone());
      steps[job.index] = step(job);
    });
  }
  std::optional<ContendingGangs::Gang> told(JobId job) {
    if (job.index >= world.size() || !world[job.index].is_running) return {};
    advance(job, step(job));
    const Gang& gang = world[job.index];
    const Duration done = nearest_ns(gang.done);
    return ContendingGangs::Gang{
        .flow = gang.flow, .shape = gang.shape, .done = done, .base = {}, .steps = gang.steps};
  }
  void run_for(Duration span) {
    const Time end = engine.now() + span;
    engine.at(end, Label{"test.end"}, [] {});  // so that it is `end` afterwards
    engine.run(end + 1_ns);
  }

  Engine engine;
  FlowNetwork flows{engine};
  LinkId link = flows.add_link(100_Gbps);
  std::vector<Gang> world;
  std::vector<Duration> steps;
  std::optional<ContendingGangs> gangs;
};

TEST_F(ContendingGangsTest, AGangAloneIsNotPlayed) {
  begin({});
  const JobId job = add(1_s, 500_ms);
  run_for(1_h);
  EXPECT_FALSE(gangs->mean(job));
  EXPECT_EQ(gangs->counters().plays, 0u);
}

TEST_F(ContendingGangsTest, GangsThatNeverFillALinkAreNotPlayed) {
  flows.set_capacity(link, 200_Gbps);
  begin({});
  const JobId first = add(1_s, 500_ms), second = add(1_s, 500_ms);
  run_for(1_h);
  EXPECT_FALSE(gangs->mean(first));
  EXPECT_FALSE(gangs->mean(second));
}

// Begun together they always exchange together; half a second apart they never do.
TEST_F(ContendingGangsTest, HowLongStepsTakeDependsOnWhenEachBegan) {
  for (const auto& [apart, expected] : {std::pair{0_ms, 2000_ms}, {600_ms, 1500_ms}}) {
    world.clear();
    gangs.reset();
    begin({});
    const uint64_t marks = mark_count("gangs.repeat_themselves");
    const JobId first = add(1_s, 500_ms);
    run_for(apart);
    const JobId second = add(1_s, 500_ms);
    run_for(1_h);
    EXPECT_NEAR(step(first).seconds(), expected.seconds(), 1e-6);
    EXPECT_NEAR(step(second).seconds(), expected.seconds(), 1e-6);
    EXPECT_GT(mark_count("gangs.repeat_themselves"), marks);
    EXPECT_LT(gangs->counters().events, 1000u);
    for (const Gang& gang : world) flows.end(gang.flow);
  }
}

// Times are rounded, so that it is told to be gone some nanoseconds later; here it never is.
TEST_F(ContendingGangsTest, AGangThatHasDoneAllItsWorkCostsTheOthersNothing) {
  begin({});
  const JobId first = add(1_s, 500_ms), second = add(1_s, 500_ms);
  world[first.index].steps = 100;
  run_for(1_h);
  EXPECT_NEAR(step(second).seconds(), 1.5, 1e-6);
  gangs->gang_ended(first);
  EXPECT_LT(gangs->counters().events, 20'000U);
}

TEST_F(ContendingGangsTest, PlaysTellWhereGangsAreInTheirSteps) {
  begin({});
  const JobId first = add(1_s, 500_ms);
  run_for(2_s);
  EXPECT_FALSE(gangs->place(first)) << "alone";
  add(1_s, 500_ms);  // half a second behind: they do not meet
  run_for(500_ms);
  auto place = gangs->place(first);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->position.exchange, StepPosition::Exchange::Moves);
  EXPECT_NEAR(place->done.seconds(), 2.5 / 1.5, 1e-6);
  EXPECT_EQ(place->exchange, 500_ms);
  run_for(900_ms);
  place = gangs->place(first);
  EXPECT_EQ(place->position.exchange, StepPosition::Exchange::Waits);
  EXPECT_NEAR(place->position.computing.seconds(), 0.6, 1e-6);
  EXPECT_NEAR(place->done.seconds(), 3.4 / 1.5, 1e-6);
}

// 1.5 s against 1.06 s: they never are where they were, but what they do in the mean is soon known.
TEST_F(ContendingGangsTest, TheirMeanGoesOnOnceTheBudgetOfStepsIsUsedUp) {
  std::vector<double> means;
  for (const int32_t budget : {200, 20'000}) {
    world.clear();
    steps.clear();
    begin({.gangs = 32, .steps = budget});
    const uint64_t marks = mark_count("gangs.do_not_repeat_themselves");
    const JobId first = add(1_s, 500_ms);
    add(747'100_us, 313'370_us);
    run_for(100_h);
    EXPECT_GT(mark_count("gangs.do_not_repeat_themselves"), marks);
    means.push_back(step(first).seconds());
    EXPECT_GT(means.back(), 1.5);
    EXPECT_LT(means.back(), 1.814);
    for (const Gang& gang : world) flows.end(gang.flow);
  }
  EXPECT_NEAR(means[0] / means[1], 1, 0.02);
}

TEST_F(ContendingGangsTest, MoreThanMayBePlayedAreNotAndAreCounted) {
  begin({.gangs = 2});
  const JobId first = add(1_s, 500_ms), second = add(1_s, 500_ms);
  run_for(1_h);
  EXPECT_TRUE(gangs->mean(first));
  EXPECT_EQ(gangs->counters().too_many, 0u);
  const JobId third = add(1_s, 500_ms);
  run_for(1_h);
  for (const JobId job : {first, second, third}) EXPECT_FALSE(gangs->mean(job));
  EXPECT_EQ(gangs->counters().too_many, 3u);
  add(1_s, 500_ms);
  run_for(1_h);
  EXPECT_EQ(gangs->counters().too_many, 4u) << "each once";
}

// The search for all that it meets ends at the first few.
TEST_F(ContendingGangsTest, NorIsAnyoneElseWhomTooManyMeet) {
  begin({.gangs = 4});
  std::vector<LinkUse> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back({flows.add_link(100_Gbps)});
    add_on({all.back()}, 1_s, 500_ms);
    add_on({all.back()}, 1_s, 500_ms);
  }
  run_for(1_h);
  for (uint32_t job = 0; job < 10; ++job) EXPECT_TRUE(gangs->mean({job})) << job;
  add_on(all, 1_s, 500_ms);
  run_for(1_h);
  for (uint32_t job = 0; job < 11; ++job) EXPECT_FALSE(gangs->mean({job})) << job;
}

TEST_F(ContendingGangsTest, TheOthersArePlayedAnewWhenOneEndsOrTheLinkIsAnother) {
  begin({});
  const JobId first = add(1_s, 500_ms), second = add(1_s, 500_ms);
  run_for(1_h);
  EXPECT_NEAR(step(first).seconds(), 2, 1e-6);
  flows.set_capacity(link, 50_Gbps);
  for (Gang& gang : world) flows.set_rate_max(gang.flow, 50e9);
  gangs->link_changed(link);
  run_for(1_h);
  EXPECT_NEAR(step(first).seconds(), 3, 1e-6) << "a second each, which they share";
  world[second.index].is_running = false;
  gangs->links_change(world[second.index].flow);
  gangs->gang_ended(second);
  flows.end(world[second.index].flow);
  run_for(1_h);
  EXPECT_FALSE(gangs->mean(first));
}

TEST_F(ContendingGangsTest, NothingIsPlayedWhenNoneMayBe) {
  begin({.gangs = 0});
  add(1_s, 500_ms);
  add(1_s, 500_ms);
  run_for(1_h);
  EXPECT_EQ(gangs->counters().plays, 0u);
}

}  // namespace
}  // namespace orrery

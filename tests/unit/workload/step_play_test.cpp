#include "models/workload/step_play.hpp"

#include <gtest/gtest.h>

#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

constexpr double kLink = 100e9;

// A second of compute, then an exchange that takes half a second alone.
StepParts parts(uint32_t links = 1) {
  StepParts parts{.compute = 1_s, .working = 1_s, .bits = kLink / 2, .rate_max = kLink};
  for (uint32_t i = 0; i < links; ++i) parts.uses.push_back({{i}, 1});
  return parts;
}

StepPlay play(const std::vector<StepParts>& gangs, const std::vector<StepPosition>& from) {
  StepPlay play{gangs, std::vector<double>(2, kLink)};
  play.start(from);
  return play;
}

TEST(StepPlay, OfAGangAloneTakesStepsOfItsLength) {
  const StepParts gang = parts();
  EXPECT_EQ(gang.alone(), 1500_ms);
  StepPlay steps = play({gang}, {StepPosition::begin(gang)});
  steps.run(1500_ms * 1'000'000);
  EXPECT_EQ(steps.positions()[0].steps, 1'000'000);
  EXPECT_NEAR(steps.work(0), 1e15, 10);
  EXPECT_EQ(steps.period(), 1500_ms);
  EXPECT_LT(steps.played(), 20);
}

// By how much the second gang is behind the first decides how long they exchange together.
TEST(StepPlay, OfTwoGangsSharesTheLinkWhileBothExchange) {
  const StepParts gang = parts();
  for (const auto& [behind, step] :
       {std::pair{0_ms, 2000_ms}, {200_ms, 1800_ms}, {500_ms, 1500_ms}, {900_ms, 1500_ms}}) {
    StepPlay steps =
        play({gang, gang}, {StepPosition::after(gang, behind), StepPosition::begin(gang)});
    steps.run(1_h);
    ASSERT_GT(steps.period(), Duration{});
    EXPECT_NEAR(steps.period().seconds() / static_cast<double>(steps.steps_of_period(0)),
                step.seconds(), 1e-8)
        << behind.seconds();
    EXPECT_NEAR(steps.work(1) / 1e9, 3600 / step.seconds(), 1);
  }
}

TEST(StepPlay, OfGangsOnUnlikeLinksIsThatOfEachAlone) {
  StepParts other = parts(0);
  other.uses = {{{1}, 1}};
  StepPlay steps = play({parts(), other}, std::vector<StepPosition>(2, StepPosition::begin(other)));
  steps.run(15_s);
  EXPECT_EQ(steps.positions()[0].steps, 10);
  EXPECT_EQ(steps.positions()[1].steps, 10);
}

TEST(StepPlay, LeavesALinkToOthersWhileAGangIsStoppedOrSaves) {
  StepParts saving = parts();
  saving.save_every = 10;
  saving.save = 60_s;
  StepPlay steps =
      play({parts(), saving}, {StepPosition::begin(parts()), StepPosition::begin(saving)});
  steps.run(600_s);
  // 10 steps side by side, then the other one is alone for a minute.
  EXPECT_NEAR(steps.paused(1).seconds(), 450, 15);
  EXPECT_NEAR(steps.work(1) / 1e9, 77, 4);
  EXPECT_GT(steps.positions()[0].steps, 370);

  StepPosition stopped = StepPosition::begin(saving);
  stopped.is_stopped = true;
  StepPlay alone = play({saving, parts()}, {stopped, StepPosition::begin(parts())});
  alone.run(15_s);
  EXPECT_EQ(alone.positions()[0].steps, 0);
  EXPECT_EQ(alone.positions()[1].steps, 10);
}

StepParts random_parts(Rng& rng) {
  const auto ms = [&](uint64_t most) {
    return Duration{static_cast<int64_t>(rng.below(most * 1'000'000))};
  };
  StepParts parts{.compute = 10_ms + ms(300)};
  parts.working = parts.compute + ms(100);
  parts.overlap = rng.chance(0.5) ? ms(10) : Duration{};
  parts.inside = rng.chance(0.5) ? ms(20) : Duration{};
  parts.update = rng.chance(0.5) ? ms(20) : Duration{};
  parts.at_least = rng.chance(0.2) ? ms(500) : Duration{};
  parts.bits = kLink * 1e-3 * static_cast<double>(1 + rng.below(200));
  parts.rate_max = kLink * (0.1 + 0.9 * rng.uniform());
  for (uint32_t link = 0; link < 2; ++link) {
    if (rng.chance(0.7)) parts.uses.push_back({{link}, 0.2 + 0.8 * rng.uniform()});
  }
  if (rng.chance(0.3))
    parts.save_every = 5 + static_cast<int64_t>(rng.below(500)), parts.save = ms(20'000);
  return parts;
}

TEST(StepPosition, IsWhereItWouldBeAfterThatTimeAlone) {
  Rng rng{1};
  for (int i = 0; i < 10'000; ++i) {
    const StepParts gang = random_parts(rng);
    const Duration since{static_cast<int64_t>(rng.below(static_cast<uint64_t>(gang.alone().ns)))};
    const StepPosition position = StepPosition::after(gang, since);
    EXPECT_NEAR((position.left(gang) + since).seconds(), gang.alone().seconds(), 1e-8);
    StepPlay steps = play({gang}, {StepPosition::begin(gang)});
    if (gang.save_every != 0) continue;
    steps.run(since);
    EXPECT_NEAR((steps.positions()[0].left(gang) + since).seconds(), gang.alone().seconds(), 1e-8);
  }
}

// Short spans leave no room for a whole period, so nothing is left out.
TEST(StepPosition, GoesOnComputingWhileItIsCutOffUntilItMustExchange) {
  const StepParts gang = parts();
  StepPosition position = StepPosition::begin(gang);
  EXPECT_EQ(position.go_on_cut_off(gang, 400_ms), 0);
  EXPECT_EQ(position.computing, 600_ms);
  EXPECT_NEAR(position.work(gang), 0.4 / 1.5 * static_cast<double>(gang.compute.ns), 1);
  EXPECT_EQ(position.go_on_cut_off(gang, 10_s), 0);
  EXPECT_NEAR(position.work(gang), 1 / 1.5 * static_cast<double>(gang.compute.ns), 1);
  EXPECT_EQ(position.exchange, StepPosition::Exchange::Moves);
  EXPECT_EQ(position.bits, gang.bits);
  position.bits /= 2;
  EXPECT_EQ(position.go_on_cut_off(gang, 10_s), 0);
  EXPECT_EQ(position.bits, gang.bits / 2);
  // What is over goes on to the next exchange.
  StepParts hidden = parts();
  hidden.overlap = 800_ms;
  hidden.update = 100_ms;
  position = StepPosition::after(hidden, 900_ms);
  ASSERT_EQ(position.exchange, StepPosition::Exchange::Over);
  EXPECT_EQ(position.go_on_cut_off(hidden, 10_s), 1);
  EXPECT_NEAR(position.work(hidden), 0.5 / 1.1 * static_cast<double>(hidden.compute.ns), 1);
  EXPECT_EQ(position.bits, hidden.bits);
}

TEST(StepPlay, IsTheSameWhetherPeriodsAreLeftOutOrNot) {
  constexpr int kRounds = test::kIsSanitized ? 40 : 300;
  Rng rng{2};
  int left_out = 0;
  for (int i = 0; i < kRounds; ++i) {
    SCOPED_TRACE(i);
    const bool are_alike = rng.chance(0.5);
    std::vector<StepParts> gangs{random_parts(rng)};
    std::vector<StepPosition> from;
    for (uint64_t others = 1 + rng.below(3); others > 0; --others) {
      gangs.push_back(are_alike ? gangs.front() : random_parts(rng));
    }
    for (const StepParts& gang : gangs) {
      from.push_back(StepPosition::begin(gang));
      const int64_t to_save = from.back().to_save;
      from.back() = StepPosition::after(gang, nearest_ns(gang.alone().seconds() * rng.uniform()));
      from.back().to_save = to_save;
    }
    StepPlay whole = play(gangs, from), slow = play(gangs, from);
    whole.run(200_s);
    for (int part = 0; part < 200'000; ++part) slow.run(1_ms);
    left_out += whole.played() < slow.played() - 200'000 ? 1 : 0;
    for (size_t gang = 0; gang < gangs.size(); ++gang) {
      EXPECT_NEAR(whole.work(gang), slow.work(gang), 1e-4 * 200e9);
      EXPECT_NEAR(whole.paused(gang).seconds(), slow.paused(gang).seconds(), 1e-3);
    }
  }
  EXPECT_GT(left_out, kRounds / 6);
}

// Both go on by whole periods, until the first has done 200.3 steps: the last is short.
TEST(StepPlay, EndsWhenAGangHasDoneAllItsWork) {
  StepParts gang = parts();
  gang.last_part = 0.3;
  StepPosition first = StepPosition::begin(gang), second = StepPosition::begin(parts());
  first.to_end = 201;
  StepPlay steps = play({gang, parts()}, {first, second});
  const Duration took = steps.run(10'000_h);
  // 200 steps side by side; then 0.3 s of compute, and 0.15 s of exchanges while the other
  // computes.
  EXPECT_NEAR(took.seconds(), 200 * 2 + 0.45, 1e-5);
  EXPECT_NEAR(steps.work(0) / 1e9, 200.3, 1e-6);
  EXPECT_EQ(steps.positions()[0].part, 0.3);
  EXPECT_LT(steps.played(), 2'000);
  EXPECT_NEAR(steps.work(1) / 1e9, 200.3, 1e-6);
  // It does no more; the other one is alone.
  EXPECT_EQ(steps.run(15_s), 15_s);
  EXPECT_NEAR(steps.work(0) / 1e9, 200.3, 1e-6);
  EXPECT_NEAR(steps.work(1) / 1e9, 210.3, 1e-6);
  steps.start(steps.positions());
  EXPECT_EQ(steps.run(10'000_h), 10'000_h);
  EXPECT_LT(steps.played(), 2'000);
}

TEST(StepPosition, ADoneStepIsNotDoneBeforeItsExchangeIs) {
  StepParts gang = parts();
  gang.overlap = 800_ms;  // of an exchange that takes 500 ms
  StepPosition late = StepPosition::begin(gang);
  EXPECT_EQ(late.go_on_cut_off(gang, 10_s), 0);
  EXPECT_EQ(late.left(gang), 500_ms);
  EXPECT_NEAR(late.work(gang), 0.5 * static_cast<double>(gang.compute.ns), 1);
}

}  // namespace
}  // namespace orrery

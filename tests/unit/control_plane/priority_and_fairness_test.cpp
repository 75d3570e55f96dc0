#include "models/control_plane/flow_control/priority_and_fairness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "models/control_plane/flow_control/flow_schemas.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

FlowControlSetup one_level(LevelSetup level) {
  return {.levels = {level}, .seats = level.seats, .adjust_every = {}};
}

std::vector<uint32_t> started(PriorityAndFairness& flow) {
  std::vector<uint32_t> all;
  while (const auto request = flow.take_started()) all.push_back(*request);
  return all;
}

TEST(PriorityAndFairness, AsManyExecuteAsThereAreSeatsAndTheRestWaits) {
  PriorityAndFairness flow{one_level({.seats = 2})};
  for (uint32_t r = 0; r < 4; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = 1}, Time{}));
  }
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(flow.state(0).waiting, 2);
  flow.finish(1, Time{} + 1_s);
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{2}));
  flow.audit();
}

TEST(PriorityAndFairness, AFullQueueTurnsAway) {
  PriorityAndFairness flow{one_level({.seats = 1, .queue_length = 2})};
  for (uint32_t r = 0; r < 3; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = 1}, Time{}));
  }
  EXPECT_FALSE(flow.arrive({.request = 3, .level = 0, .flow = 1}, Time{}));
  EXPECT_EQ(flow.present(), 3U);
}

TEST(PriorityAndFairness, ALevelWithoutQueuesTurnsAwayAndAnExemptOneNever) {
  FlowControlSetup setup = one_level({.kind = LevelKind::Reject, .seats = 1});
  setup.levels.push_back({.kind = LevelKind::Exempt, .seats = 0});
  PriorityAndFairness flow{setup};
  EXPECT_TRUE(flow.arrive({.request = 0, .level = 0, .flow = 1}, Time{}));
  EXPECT_FALSE(flow.arrive({.request = 1, .level = 0, .flow = 1}, Time{}));
  for (uint32_t r = 1; r < 100; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 1, .flow = 1}, Time{}));
  }
  EXPECT_EQ(started(flow).size(), 100U);
}

TEST(PriorityAndFairness, WhoWaitedTooLongIsTakenOutInOrder) {
  FlowControlSetup setup = one_level({.seats = 1, .queues = 4, .hand = 1});
  setup.wait_limit = 15_s;
  PriorityAndFairness flow{setup};
  for (uint32_t r = 0; r < 4; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = r}, Time{} + 1_s * r));
  }
  EXPECT_EQ(flow.next_event(), Time{} + 16_s);
  EXPECT_FALSE(flow.take_expired(Time{} + 15_s));
  EXPECT_EQ(flow.take_expired(Time{} + 17_s), 1U);
  EXPECT_EQ(flow.take_expired(Time{} + 17_s), 2U);
  EXPECT_FALSE(flow.take_expired(Time{} + 17_s));
  EXPECT_FALSE(flow.is_waiting(1));
  EXPECT_TRUE(flow.is_waiting(3));
  flow.audit();
}

TEST(PriorityAndFairness, QueuesTakeTurnsHoweverLongTheyAre) {
  PriorityAndFairness flow{one_level({.seats = 1, .queues = 2, .queue_length = 1000})};
  const ShuffleSharding sharding{2, 1};
  uint64_t mouse = 1;  // a flow whose queue is not that of flow 0
  while (sharding.deal(flow_hash(mouse))[0] == sharding.deal(flow_hash(0))[0]) ++mouse;
  for (uint32_t r = 0; r < 100; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = 0}, Time{}));
  }
  for (uint32_t r = 100; r < 105; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = mouse}, Time{}));
  }
  std::vector<uint32_t> order;
  Time now;
  while (flow.present() > 0) {
    const uint32_t running = started(flow).at(0);
    order.push_back(running);
    now = now + 10_ms;
    flow.finish(running, now);
  }
  EXPECT_EQ(order.size(), 105U);
  int64_t mice = 0;
  for (size_t i = 0; i < 12; ++i) mice += order[i] >= 100 ? 1 : 0;
  EXPECT_EQ(mice, 5) << "one of each in turn, then the heavy flow alone";
}

// Two queues are never empty. Each request of the first queue takes three seats, and each request
// of the second queue takes one seat.
TEST(PriorityAndFairness, SeatTimeIsSharedEvenlyBetweenWideAndNarrowRequests) {
  PriorityAndFairness flow{one_level({.seats = 6, .queues = 2, .queue_length = 1000})};
  const ShuffleSharding sharding{2, 1};
  uint64_t other = 1;
  while (sharding.deal(flow_hash(other))[0] == sharding.deal(flow_hash(0))[0]) ++other;
  for (uint32_t r = 0; r < 1200; ++r) {
    const bool is_wide = r % 4 == 0;
    EXPECT_TRUE(flow.arrive(
        {.request = r, .level = 0, .flow = is_wide ? 0 : other, .width = is_wide ? 3 : 1}, Time{}));
  }
  int64_t wide = 0, narrow = 0;
  Time now;
  std::vector<uint32_t> running = started(flow);
  for (int round = 0; round < 100; ++round) {
    now = now + 10_ms;
    for (const uint32_t r : running) {
      (r % 4 == 0 ? wide : narrow) += r % 4 == 0 ? 3 : 1;
      flow.finish(r, now);
    }
    running = started(flow);
  }
  EXPECT_NEAR(static_cast<double>(wide), static_cast<double>(narrow),
              0.03 * static_cast<double>(wide));
}

TEST(PriorityAndFairness, AWideRequestHoldsOthersBackAndOneWiderThanItsLevelExecutesAlone) {
  PriorityAndFairness flow{one_level({.seats = 4})};
  EXPECT_TRUE(flow.arrive({.request = 0, .level = 0, .flow = 1, .width = 2}, Time{}));
  EXPECT_TRUE(flow.arrive({.request = 1, .level = 0, .flow = 1, .width = 9}, Time{}));
  EXPECT_TRUE(flow.arrive({.request = 2, .level = 0, .flow = 1, .width = 1}, Time{}));
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{0}));
  flow.finish(0, Time{} + 1_s);
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{1}));
  flow.finish(1, Time{} + 2_s);
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{2}));
}

TEST(PriorityAndFairness, AbandoningAWideRequestLetsOthersGoOn) {
  PriorityAndFairness flow{one_level({.seats = 4})};
  EXPECT_TRUE(flow.arrive({.request = 0, .level = 0, .flow = 1, .width = 2}, Time{}));
  EXPECT_TRUE(flow.arrive({.request = 1, .level = 0, .flow = 1, .width = 4}, Time{}));
  EXPECT_TRUE(flow.arrive({.request = 2, .level = 0, .flow = 1, .width = 1}, Time{}));
  EXPECT_EQ(started(flow).size(), 1U);
  flow.abandon(1, Time{} + 1_s);
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{2}));
  flow.audit();
}

// The default levels of Kubernetes. Only level workload-high has demand.
TEST(PriorityAndFairness, ABusyLevelBorrowsWhatOthersMayLend) {
  const FlowControlParams params;
  PriorityAndFairness flow{setup_of(params)};
  constexpr uint32_t kWorkloadHigh = 4;
  for (uint32_t r = 0; r < 1000; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = kWorkloadHigh, .flow = r}, Time{}));
  }
  EXPECT_EQ(started(flow).size(), 98U);
  flow.advance(Time{} + 10_s);
  // The limit is 600 seats minus the seats that the other levels keep. Each of these levels keeps
  // its own seats minus those that it may lend: leader-election 25, node-high 98 - 25, system 74 -
  // 24, workload-low 245 - 221, global-default 49 - 25, catch-all 13.
  EXPECT_EQ(flow.state(kWorkloadHigh).limit, 600 - 25 - 73 - 50 - 24 - 24 - 13);
  EXPECT_EQ(flow.state(5).limit, 24);
  EXPECT_EQ(started(flow).size(), 391U - 98U);
  flow.audit();
}

TEST(PriorityAndFairness, ALevelThatIsAskedAgainTakesItsOwnSeatsBack) {
  FlowControlSetup setup{.levels = {{.seats = 50, .seats_min = 10, .queue_length = 1000},
                                    {.seats = 50, .seats_min = 10, .queue_length = 1000}},
                         .seats = 100};
  PriorityAndFairness flow{setup};
  for (uint32_t r = 0; r < 200; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = 1}, Time{}));
  }
  flow.advance(Time{} + 10_s);
  EXPECT_EQ(flow.state(0).limit, 90);
  EXPECT_EQ(flow.state(1).limit, 10);
  for (uint32_t r = 200; r < 400; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 1, .flow = 1}, Time{} + 11_s));
  }
  flow.advance(Time{} + 20_s);
  EXPECT_EQ(flow.state(0).limit, 50);
  EXPECT_EQ(flow.state(1).limit, 50);
}

// While the smoothed demand decays, one long advance() must give the same limits as an advance()
// every second. Level 0 demands 80 seats for 10 s. Level 1 demands 20 seats for 1 s.
TEST(PriorityAndFairness, PeriodsNeedNotBeLookedAtOneByOne) {
  const FlowControlSetup setup{
      .levels = {{.seats = 50, .seats_min = 20}, {.seats = 50, .seats_min = 20}}, .seats = 100};
  PriorityAndFairness lazy{setup}, eager{setup};
  for (PriorityAndFairness* flow : {&lazy, &eager}) {
    for (uint32_t r = 0; r < 100; ++r) {
      EXPECT_TRUE(flow->arrive({.request = r, .level = r < 80 ? 0U : 1U, .flow = r}, Time{}));
    }
    for (uint32_t r = 80; r < 100; ++r) flow->finish(r, Time{} + 1_s);
    flow->advance(Time{} + 10_s);
    EXPECT_GT(flow->state(0).limit, 75);
    while (!started(*flow).empty()) {
    }
    for (uint32_t r = 0; r < 80; ++r) flow->finish(r, Time{} + 10_s);
    EXPECT_EQ(flow->present(), 0U);
  }
  int64_t looked_at = 10;
  for (const int64_t s : {20, 200, 601, 5'000, 49'999, 500'000}) {
    while (looked_at < s) eager.advance(Time{} + 1_s * ++looked_at);
    PriorityAndFairness late = lazy;
    late.advance(Time{} + 1_s * s);
    EXPECT_EQ(late.state(0).limit, eager.state(0).limit) << s;
    EXPECT_EQ(late.state(1).limit, eager.state(1).limit) << s;
    EXPECT_EQ(late.state(0).limit + late.state(1).limit, 100);
  }
  EXPECT_EQ(eager.state(0).limit, 50);
}

TEST(PriorityAndFairness, SteadyLoadHoldsSeats) {
  PriorityAndFairness flow{one_level({.seats = 4})};
  flow.set_background(0, 1.5, Time{});
  for (uint32_t r = 0; r < 4; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = 1}, Time{}));
  }
  EXPECT_EQ(started(flow).size(), 2U);
  flow.set_background(0, 0, Time{} + 1_s);
  EXPECT_EQ(started(flow).size(), 2U);
}

TEST(PriorityAndFairness, AFullQueueTurnsAwayWhileSteadyLoadHoldsTheSeatsThatAreLeft) {
  PriorityAndFairness flow{one_level({.seats = 2, .queue_length = 1})};
  flow.set_background(0, 0.5, Time{});
  EXPECT_TRUE(flow.arrive({.request = 0, .level = 0, .flow = 1}, Time{}));
  EXPECT_TRUE(flow.arrive({.request = 1, .level = 0, .flow = 1}, Time{}));
  EXPECT_FALSE(flow.arrive({.request = 2, .level = 0, .flow = 1}, Time{}));
  EXPECT_EQ(started(flow).size(), 1U);
}

TEST(PriorityAndFairness, NothingIsPresentAfterAReset) {
  PriorityAndFairness flow{one_level({.seats = 1})};
  for (uint32_t r = 0; r < 3; ++r) {
    EXPECT_TRUE(flow.arrive({.request = r, .level = 0, .flow = 1}, Time{}));
  }
  flow.reset(Time{} + 1_s);
  EXPECT_EQ(flow.present(), 0U);
  EXPECT_EQ(flow.next_event(), Time::max());
  EXPECT_TRUE(started(flow).empty());
  EXPECT_TRUE(flow.arrive({.request = 0, .level = 0, .flow = 1}, Time{} + 2_s));
  EXPECT_EQ(started(flow), (std::vector<uint32_t>{0}));
  flow.audit();
}

TEST(FairSeats, SumUpToAllAndStayBetweenTheirBounds) {
  Rng rng{8};
  for (int trial = 0; trial < 2'000; ++trial) {
    std::vector<SeatClaim> claims;
    std::vector<double> floors;
    double lows = 0, highs = 0, seats = 600 * rng.uniform() + 1;
    for (uint64_t i = 1 + rng.below(8); i > 0; --i) {
      const double low = 80 * rng.uniform(), high = low + 300 * rng.uniform();
      claims.push_back({.low = low, .high = high, .target = low + 200 * rng.uniform()});
      floors.push_back(low * rng.uniform());
      lows += low;
      highs += high;
    }
    const std::vector<double> shares = fair_seats(claims, floors, seats);
    const double floor = std::accumulate(floors.begin(), floors.end(), 0.0);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    EXPECT_NEAR(sum, std::clamp(seats, floor, highs), 1e-6) << trial;
    for (size_t i = 0; i < claims.size(); ++i) {
      EXPECT_GE(shares[i], (lows > seats ? floors[i] : claims[i].low) - 1e-9);
      EXPECT_LE(shares[i], claims[i].high + 1e-9);
    }
  }
}

}  // namespace
}  // namespace orrery

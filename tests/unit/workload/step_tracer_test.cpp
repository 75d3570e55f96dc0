#include "models/workload/steps/step_tracer.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace orrery {
namespace {

// One link of 8 Gbit/s: 1 GB takes a second.
class StepTracerTest : public ::testing::Test {
 protected:
  StepTracerTest() {
    static_cast<void>(flows.add_link(8_Gbps));
    tracer.step_done.connect([this](JobId job) { ends.push_back({job, engine.now()}); });
    tracer.pace_changed.connect([this](JobId, Pace pace) {
      done += at.work_in(engine.now() - since);
      at = pace;
      since = engine.now();
    });
  }
  struct End {
    JobId job;
    Time at;
    bool operator==(const End&) const = default;
  };
  static StepActivity exchange(int64_t bytes) {
    StepActivity activity;
    activity.bytes = {bytes};
    activity.rate_max = 8_Gbps;
    activity.fabric.uses = {{{0}}};
    activity.fabric.is_connected = true;
    return activity;
  }
  void call(Duration after, auto what) {
    engine.at(Time{} + after, Label{"test.call"}, [what] { what(); });
  }

  Engine engine;
  FlowNetwork flows{engine};
  StepTracer tracer{engine, &flows};
  std::vector<End> ends;
  Duration done{};  // work done according to the paces that the tracer emitted
  Pace at = Pace::of_step(1_ns, Duration::max());
  Time since{};
  static constexpr JobId kJob{0}, kOther{1};
  static constexpr Time kZero{};
};

TEST_F(StepTracerTest, AStepPassesAsItsCycleSays) {
  const StepCycle cycle{
      .compute = 2_s, .working = 3_s, .overlap = 1_s, .inside = 500_ms, .update = 250_ms};
  tracer.begin(kJob, cycle, exchange(1'000'000'000), 4_s);
  engine.run();
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].at - kZero, cycle.length(1_s)) << "2 s, 1.5 s of exchange, 0.25 s";
  EXPECT_EQ(ends[1].at - kZero, cycle.length(1_s) * 2);
  EXPECT_EQ(done, 4_s);
  EXPECT_EQ(tracer.sent(kJob).count, 2'000'000'000);
}

TEST_F(StepTracerTest, TheLastStepIsAsSmallAsTheWorkThatIsLeft) {
  tracer.begin(kJob, {.compute = 1_s, .working = 1_s}, exchange(1'000'000'000), 1500_ms);
  engine.run();
  EXPECT_EQ(ends, (std::vector<End>{{kJob, kZero + 2_s}, {kJob, kZero + 3_s}}));
}

TEST_F(StepTracerTest, TransfersOfTwoGangsShareTheLink) {
  for (const JobId job : {kJob, kOther}) {
    tracer.begin(job, {.compute = 1_s, .working = 1_s}, exchange(1'000'000'000), 1_s);
  }
  engine.run();
  EXPECT_EQ(ends, (std::vector<End>{{kJob, kZero + 3_s}, {kOther, kZero + 3_s}}));
}

TEST_F(StepTracerTest, APauseStopsComputingAndTransfersAlike) {
  tracer.begin(kJob, {.compute = 1_s, .working = 1_s, .update = 1_s}, exchange(1'000'000'000), 1_s);
  // The step has three phases of 1 s: compute, exchange and update. A pause of 10 s begins in the
  // middle of each.
  for (const int64_t second : {0, 11, 22}) {
    call(1_s * second + 500_ms, [this] { tracer.set_paused(kJob, true); });
    call(1_s * second + 10'500_ms, [this] { tracer.set_paused(kJob, false); });
  }
  engine.run();
  EXPECT_EQ(ends, (std::vector<End>{{kJob, kZero + 33_s}}));
}

TEST_F(StepTracerTest, NoStepIsShorterThanReadingItsData) {
  tracer.begin(kJob, {.compute = 1_s, .working = 1_s, .reading = 3_s}, {}, 3_s);
  call(4_s, [this] { tracer.set_reading(kJob, Duration::max()); });
  call(9_s, [this] { tracer.set_reading(kJob, 2_s); });
  engine.run();
  EXPECT_EQ(ends,
            (std::vector<End>{{kJob, kZero + 3_s}, {kJob, kZero + 9_s}, {kJob, kZero + 11_s}}));
}

TEST_F(StepTracerTest, AnExchangeWithoutAWayWaitsForOneAndIsReported) {
  std::vector<Time> due;
  tracer.transfer_due.connect([&](JobId) { due.push_back(engine.now()); });
  StepActivity cut = exchange(1'000'000'000);
  cut.fabric.is_connected = false;
  tracer.begin(kJob, {.compute = 1_s, .working = 1_s}, cut, 1_s);
  call(5_s, [this] {
    EXPECT_TRUE(tracer.is_transferring(kJob));
    tracer.reroute(kJob, exchange(1'000'000'000));
  });
  engine.run();
  EXPECT_EQ(due, std::vector<Time>{kZero + 1_s});
  EXPECT_EQ(ends, (std::vector<End>{{kJob, kZero + 6_s}}));
}

// When the gang is rerouted, half of its transfer has moved. On the new route the heaviest link
// carries twice the bytes, so the other half takes 1 s.
TEST_F(StepTracerTest, ATransferGoesOnWhereItsWayChanges) {
  tracer.begin(kJob, {.compute = 1_s, .working = 1_s}, exchange(1'000'000'000), 1_s);
  call(1500_ms, [this] { tracer.reroute(kJob, exchange(2'000'000'000)); });
  engine.run();
  EXPECT_EQ(ends, (std::vector<End>{{kJob, kZero + 2500_ms}}));
}

TEST_F(StepTracerTest, AGangThatEndsLeavesNothingBehind) {
  tracer.begin(kJob, {.compute = 1_s, .working = 1_s}, exchange(1'000'000'000), 9_s);
  call(1250_ms, [this] { tracer.end(kJob); });
  engine.run();
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(engine.now(), kZero + 1250_ms);
  EXPECT_EQ(tracer.sent(kJob).count, 250'000'000);
  EXPECT_EQ(flows.active(), 0U);
}

}  // namespace
}  // namespace orrery

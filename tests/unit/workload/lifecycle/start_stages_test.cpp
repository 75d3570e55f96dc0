// Hooks that set how long the stages of a pod's start take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/workload/lifecycle/pods/pod_starts.hpp"
#include "tests/support/alike.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kStartStages = enum_names(StartStage{}).size();

struct StartStagesWorld {
  explicit StartStagesWorld(Duration latency = {})
      : starts{{engine, rng, recorder}, jobs, {.median = latency}} {
    starts.admitted(jobs.add(make_job(JobKind::Pods, 1, 8, 100_s)));
    starts.start_known.connect([this](PodId) { known.push_back(engine.now()); });
  }
  void bind() {
    jobs.pod({0}).state = PodState::Bound;
    starts.begin({0});
  }
  Time started() const { return jobs.pod({0}).started; }
  // Gives the stage a hook, which replies at once that the stage takes `span`.
  void takes(StartStage stage, Duration span) {
    starts.use(stage, [this, stage, span](PodId, Duration until, const PodStarts::Ready& logged) {
      passed.push_back(std::string{name_of(stage)} + " " +
                       std::to_string(until.ns / 1'000'000'000));
      logged(until + span);
    });
  }
  // Gives the stage a hook, which replies when the test calls `tell`.
  void is_silent(StartStage stage) {
    starts.use(stage,
               [this](PodId, Duration, PodStarts::Ready logged) { tell = std::move(logged); });
  }

  Engine engine;
  RngStreams rng{1};
  MemoryRecorder recorder;
  JobTable jobs;
  PodStarts starts;
  PodStarts::Ready tell;
  std::vector<std::string> passed;  // calls of hooks: "images 3" if the stage starts in 3 s
  std::vector<Time> known;          // times at which the start became known
};

TEST(StartStages, EachDelaysTheStartByWhatItsHookSays) {
  for (size_t stage = 0; stage < kStartStages; ++stage) {
    StartStagesWorld world{20_s};
    world.takes(static_cast<StartStage>(stage), 3_s);
    world.bind();
    EXPECT_EQ(world.started(), Time{} + 23_s) << enum_names(StartStage{})[stage];
    EXPECT_THAT(world.known, ElementsAre(Time{}));
  }
}

TEST(StartStages, FollowOneAnotherInTheOrderOfAKubelet) {
  StartStagesWorld world;
  // The order in which hooks are set does not matter.
  for (size_t stage = kStartStages; stage-- > 0;) {
    world.takes(static_cast<StartStage>(stage), 1_s * static_cast<int64_t>(stage + 1));
  }
  world.bind();
  EXPECT_THAT(world.passed, ElementsAre("sandbox 0", "address 1", "volumes 3", "images 6",
                                        "devices 10", "containers 15"));
  EXPECT_EQ(world.started(), Time{} + 21_s);
}

TEST(StartStages, AHookThatTellsLaterPutsOffTheStagesAfterIt) {
  StartStagesWorld world{20_s};
  world.is_silent(StartStage::Volumes);
  world.takes(StartStage::Images, 4_s);
  world.bind();
  EXPECT_EQ(world.started(), Time::max());
  EXPECT_THAT(world.known, IsEmpty());
  EXPECT_THAT(world.passed, IsEmpty());
  world.engine.advance_to(Time{} + 10_s);
  world.tell(2_s);
  EXPECT_THAT(world.passed, ElementsAre("images 2"));
  EXPECT_THAT(world.known, ElementsAre(Time{} + 10_s));
  EXPECT_EQ(world.started(), Time{} + 10_s + 2_s + 4_s + 20_s);
}

TEST(StartStages, APodThatIsGoneBeforeItsHookTellsDoesNotStart) {
  StartStagesWorld world;
  world.is_silent(StartStage::Images);
  world.takes(StartStage::Devices, 1_s);
  world.bind();
  world.jobs.pod({0}).state = PodState::Absent;
  world.tell(2_s);
  EXPECT_THAT(world.known, IsEmpty());
  EXPECT_THAT(world.passed, IsEmpty());
}

TEST(StartStages, ANotificationOfAnEarlierLifeDoesNotStartTheNext) {
  StartStagesWorld world;
  world.is_silent(StartStage::Images);
  world.bind();
  const PodStarts::Ready earlier = world.tell;
  ++world.jobs.pod({0}).generation;  // the pod was created again
  world.bind();
  earlier(2_s);
  EXPECT_THAT(world.known, IsEmpty());
  world.tell(5_s);
  EXPECT_EQ(world.started(), Time{} + 5_s);
}

}  // namespace
}  // namespace orrery

#include "models/workload/lifecycle/pods/pod_creation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/alike.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct PodCreationWorld {
  explicit PodCreationWorld(const JobControllerParams& params = {})
      : creation{engine, jobs, params} {
    creation.created.connect([this](std::span<const PodId> pods) {
      std::string batch = std::to_string(engine.now().ns / 1'000'000'000) + "s";
      for (const PodId pod : pods) batch += " " + name_of_pod(pod);
      batches.push_back(batch);
    });
  }
  JobId admit(int32_t pods, WorkloadKind controller = WorkloadKind::Job) {
    JobSpec spec = make_job(JobKind::Pods, pods, 1, 100_s);
    spec.controller = controller;
    const JobId job = jobs.add(spec);
    creation.admitted(job);
    return job;
  }
  std::string name_of_pod(PodId pod) const {
    const std::string job(1, static_cast<char>('a' + jobs.pod(pod).job.index));
    return job + std::to_string(jobs.pod(pod).rank);
  }
  // The pod is bound, and its containers run from now on.
  void start(PodId pod) {
    jobs.pod(pod).state = PodState::Bound;
    jobs.pod(pod).started = engine.now();
    creation.create_wanted(pod);
  }

  Engine engine;
  JobTable jobs;
  PodCreation creation;
  std::vector<std::string> batches;
};

// An API that keeps the callbacks of create() in `asked`. The test calls them.
class SilentPodApi final : public PodApi {
 public:
  void create(PodId pod, Reply reply) override { asked.emplace_back(pod, std::move(reply)); }
  void bind(PodId, NodeId, Done) override {}
  void start(PodId, NodeId, Started) override {}
  void evict(PodId, Reply) override {}
  void nominated(PodId) override {}
  void scheduling_failed(PodId) override {}
  void removed(PodId pod, NodeId, Observed) override { called_off.push_back(pod); }

  std::vector<std::pair<PodId, Reply>> asked;
  std::vector<PodId> called_off;
};

TEST(PodCreation, JobsTakeTurnsABatchEachAndBatchesDouble) {
  PodCreationWorld world;
  world.creation.want_all(world.admit(4));
  world.creation.want_all(world.admit(3));
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0", "0s b0", "0s a1 a2", "0s b1 b2", "0s a3"));
}

TEST(PodCreation, AnIntervalLiesBetweenTheBatchesOfAJob) {
  PodCreationWorld world{{.pod_creation_interval = 2_s}};
  world.creation.want_all(world.admit(4));
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0", "2s a1 a2", "4s a3"));
}

TEST(PodCreation, AParallelStatefulSetIsOneBatch) {
  PodCreationWorld world;
  world.creation.want_all(world.admit(4, WorkloadKind::ParallelStatefulSet));
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0 a1 a2 a3"));
}

TEST(PodCreation, APodOfAnOrderedStatefulSetWaitsUntilAllBeforeItRun) {
  PodCreationWorld world;
  world.creation.want_all(world.admit(3, WorkloadKind::OrderedStatefulSet));
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0"));
  world.start({0});
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0", "0s a1"));
  // The first pod is lost before the second one runs. The third must wait until both run.
  world.jobs.pod({0}).state = PodState::Absent;
  world.creation.gone({0});
  world.creation.want({0});
  world.start({1});
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0", "0s a1", "0s a0"));
  world.start({0});
  world.engine.run();
  EXPECT_EQ(world.batches.back(), "0s a2");
}

TEST(PodCreation, ARetiredPodIsNotCreated) {
  PodCreationWorld world;
  const JobId job = world.admit(3);
  world.creation.set_retired({1}, true);
  world.creation.want_all(job);
  world.engine.run();
  EXPECT_THAT(world.batches, ElementsAre("0s a0", "0s a2"));
  EXPECT_FALSE(world.creation.has_wanted(job));
}

TEST(PodCreation, APodThatTheApiRefusesIsTriedAgain) {
  PodCreationWorld world;
  SilentPodApi api;
  world.creation.use(api);
  world.creation.want_all(world.admit(1));
  world.engine.run();
  ASSERT_EQ(api.asked.size(), 1u);
  const auto logged = api.asked[0].second;
  logged(PodApi::Creation::Answered);
  logged(PodApi::Creation::Refused);
  world.engine.run();
  ASSERT_EQ(api.asked.size(), 2u);
  api.asked[1].second(PodApi::Creation::Known);
  EXPECT_THAT(world.batches, ElementsAre("0s a0"));
  EXPECT_EQ(world.jobs.pod({0}).state, PodState::Pending);
}

TEST(PodCreation, AForgottenPodDoesNotAppear) {
  PodCreationWorld world;
  SilentPodApi api;
  world.creation.use(api);
  world.creation.want_all(world.admit(1));
  world.engine.run();
  world.creation.forget({0});
  EXPECT_THAT(api.called_off, ElementsAre(PodId{0}));
  api.asked.at(0).second(PodApi::Creation::Known);
  EXPECT_THAT(world.batches, IsEmpty());
  EXPECT_EQ(world.jobs.pod({0}).state, PodState::Absent);
}

}  // namespace
}  // namespace orrery

#include "models/workload/lifecycle/service_lives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "models/workload/services/service_params.hpp"
#include "sim/core/check.hpp"
#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A service that starts with 2 replicas and may grow to 4. Each replica has 8 GPUs. The test binds
// the pods.
struct ServiceLivesWorld : LivesWorld {
  explicit ServiceLivesWorld(std::optional<Duration> lasts = {}) : LivesWorld{Options{}} {
    watch(services.over);
    JobSpec spec = make_job(JobKind::Pods, 4, 8, kNeverEnds);
    ServiceParams service;
    service.replicas = 2;
    service.lasts = lasts;
    spec.service = std::make_shared<ServiceParams>(service);
    job = admit(spec);
    services.admitted(job);
    create(job);
  }
  void run(uint32_t rank) {
    bind({rank}, {rank});
    pods.starts().begin({rank});
    pods.runs({rank});
    runs.keep(job);
    runs.of(job).gpu_milli += 8'000;
    phases.set(job, JobPhase::Running);
  }
  std::vector<uint32_t> in(PodState state) const {
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < 4; ++rank) {
      if (jobs.pod({rank}).state == state) ranks.push_back(rank);
    }
    return ranks;
  }
  void scale(int32_t replicas) {
    services.scale(job, replicas);
    go_to(engine.now());
  }

  ServiceLives services{engine, jobs, phases, pods, runs, recoveries, news};
  JobId job;
};

TEST(ServiceLives, AServiceHasAsManyPodsAsReplicas) {
  ServiceLivesWorld world;
  EXPECT_THAT(world.in(PodState::Pending), ElementsAre(0, 1));
  world.scale(4);
  EXPECT_THAT(world.in(PodState::Pending), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(world.services.replicas(world.job), 4);
  EXPECT_THROW(world.services.scale(world.job, 5), CheckFailed);
}

TEST(ServiceLives, PodsWithoutANodeAreTakenAwayFirst) {
  ServiceLivesWorld world;
  world.scale(3);
  world.run(1);
  world.run(2);
  world.scale(2);
  EXPECT_THAT(world.in(PodState::Absent), ElementsAre(0, 3));
}

TEST(ServiceLives, OfThoseThatRunTheYoungestIsTakenAwayFirst) {
  ServiceLivesWorld world;
  world.scale(3);
  for (const uint32_t rank : {0U, 2U, 1U}) {
    world.run(rank);
    world.go_to(world.engine.now() + 10_s);
  }
  world.scale(2);
  EXPECT_THAT(world.in(PodState::Running), ElementsAre(0, 2));
  world.scale(1);
  EXPECT_THAT(world.in(PodState::Running), ElementsAre(0));
}

TEST(ServiceLives, APodThatWasTakenAwayIsNotReplaced) {
  ServiceLivesWorld world;
  world.scale(1);
  world.create(world.job);
  EXPECT_THAT(world.in(PodState::Pending), ElementsAre(0));
  world.scale(2);
  EXPECT_THAT(world.in(PodState::Pending), ElementsAre(0, 1));
}

TEST(ServiceLives, ItsGpusComputeForTheShareOfTimeThatItsLoadTakes) {
  ServiceLivesWorld world;
  world.run(0);
  world.go_to(10_s);  // for 10 s there is no load
  world.services.set_use(world.job, 0.25);
  world.go_to(50_s);
  world.services.set_use(world.job, 1);
  world.go_to(60_s);
  world.runs.keep(world.job);
  const GpuTime& time = world.accounts.of(world.job).gpu_time;
  EXPECT_DOUBLE_EQ(GpuTime::seconds(time.useful), 8 * (10.0 + 10.0));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(time.idle), 8 * (10.0 + 30.0));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(time.exchange), 0);
}

TEST(ServiceLives, AServiceThatIsDeletedHasCompletedIfItRan) {
  ServiceLivesWorld busy{60_s}, waiting{60_s}, endless;
  busy.run(0);
  for (ServiceLivesWorld* world : {&busy, &waiting, &endless}) world->engine.run();
  EXPECT_THAT(busy.ends, ElementsAre("60s completed none"));
  EXPECT_THAT(waiting.ends, ElementsAre("60s failed none"));
  EXPECT_THAT(endless.ends, IsEmpty());
}

TEST(ServiceLives, AServiceThatIsOverForAnotherReasonIsNotDeletedLater) {
  ServiceLivesWorld world{60_s};
  world.services.end(world.job);
  world.engine.run();
  EXPECT_THAT(world.ends, IsEmpty());
}

}  // namespace
}  // namespace orrery

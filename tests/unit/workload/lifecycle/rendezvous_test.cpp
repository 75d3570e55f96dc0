#include "models/workload/lifecycle/rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/alike.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

// A gang of three members, of which two suffice.
struct RendezvousWorld {
  explicit RendezvousWorld(const JobControllerParams& params = {}, bool needs_first = false)
      : rendezvous{{engine, rng, recorder}, jobs, params} {
    JobSpec spec = make_job(JobKind::MpiGang, 3, 8, 100_s);
    spec.gangs[0].min_available = 2;
    if (needs_first) {  // rank 0 is the only pod of a role that the gang needs
      std::vector<RoleSpec>& roles = spec.gangs[0].roles;
      roles.push_back(roles[0]);
      roles[0].pods = roles[0].min_available = 1;
      roles[1].pods = 2;
    }
    job = jobs.add(spec);
    rendezvous.admitted(job);
    rendezvous.gathered.connect([this](JobId) {
      std::string members = seconds() + "gathered";
      for (uint32_t rank = 0; rank < 3; ++rank) {
        if (jobs.pod({rank}).takes_part) members += " " + std::to_string(rank);
      }
      news.push_back(members);
    });
    rendezvous.lost.connect([this](JobId) { news.push_back(seconds() + "lost"); });
    rendezvous.noticed.connect([this](PodId pod) {
      news.push_back(seconds() + "noticed " + std::to_string(jobs.pod(pod).rank));
    });
  }
  // The pod gets a node, and its containers will run from `up` on.
  void bind(uint32_t rank, Duration up) {
    jobs.pod({rank}).state = PodState::Bound;
    jobs.pod({rank}).started = Time{} + up;
    ++jobs.gang({0}).bound;
    ++jobs.role(jobs.pod({rank}).role).bound;
    rendezvous.await_up({rank});
  }
  void lose(uint32_t rank) {
    rendezvous.leaves({rank});
    jobs.pod({rank}).state = PodState::Absent;
    jobs.pod({rank}).takes_part = false;
    --jobs.gang({0}).bound;
    --jobs.role(jobs.pod({rank}).role).bound;
    rendezvous.call(job);
  }
  std::string seconds() const { return std::to_string(engine.now().ns / 1'000'000'000) + "s "; }

  Engine engine;
  RngStreams rng{1};
  MemoryRecorder recorder;
  JobTable jobs;
  Rendezvous rendezvous;
  JobId job;
  std::vector<std::string> news;
};

TEST(Rendezvous, EnoughMembersWaitForTheOthersUntilTheLastCallIsOver) {
  RendezvousWorld world{{.last_call = 30_s}};
  world.rendezvous.begin(world.job);
  world.bind(0, 2_s);
  world.bind(2, 5_s);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("35s gathered 0 2"));
  world.recorder.flush_all();
  const GangStartRow row = world.recorder.rows<GangStartRow>("/events/gang_starts").at(0);
  EXPECT_EQ(row.called, Time{} + 5_s);
  EXPECT_EQ(row.started, Time{} + 35_s);
  EXPECT_EQ(row.members, 2);
  EXPECT_EQ(row.gpus, 16);
}

TEST(Rendezvous, IsOverAtOnceWhenTheLastMemberIsUp) {
  RendezvousWorld world{{.last_call = 30_s}};
  world.rendezvous.begin(world.job);
  for (uint32_t rank = 0; rank < 3; ++rank) world.bind(rank, 4_s * (rank + 1));
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("12s gathered 0 1 2"));
}

TEST(Rendezvous, AMemberThatComesAfterItIsNoticedAndTakesNoPart) {
  RendezvousWorld world{{.last_call = 30_s, .monitor_interval = 3_s}};
  world.rendezvous.begin(world.job);
  world.bind(0, 0_s);
  world.bind(1, 0_s);
  world.bind(2, 50_s);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("30s gathered 0 1", "53s noticed 2"));
  EXPECT_TRUE(world.rendezvous.is_up({2}));
}

TEST(Rendezvous, WithoutAMonitorNobodyNoticesIt) {
  RendezvousWorld world{{.last_call = 30_s, .monitor_interval = std::nullopt}};
  world.rendezvous.begin(world.job);
  world.bind(0, 0_s);
  world.bind(1, 0_s);
  world.bind(2, 50_s);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("30s gathered 0 1"));
}

TEST(Rendezvous, ALastCallBeginsAgainIfAMemberIsLostDuringIt) {
  RendezvousWorld world{{.last_call = 30_s}};
  world.rendezvous.begin(world.job);
  world.bind(0, 0_s);
  world.bind(1, 0_s);
  world.bind(2, 20_s);  // a third bound pod, so the minimum holds without rank 1
  world.engine.run(Time{} + 10_s);
  world.lose(1);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("50s gathered 0 2"));
}

TEST(Rendezvous, IsLostWhenTooFewMembersAreBound) {
  RendezvousWorld world{{.last_call = 30_s}};
  world.rendezvous.begin(world.job);
  world.bind(0, 0_s);
  world.bind(1, 0_s);
  world.engine.run(Time{} + 10_s);
  world.lose(1);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("10s lost"));
  EXPECT_FALSE(world.rendezvous.is_gathering(world.job));
}

TEST(Rendezvous, AMemberThatIsLostBeforeItIsUpDoesNotCount) {
  RendezvousWorld world{{.last_call = 30_s}};
  world.rendezvous.begin(world.job);
  for (uint32_t rank = 0; rank < 3; ++rank) world.bind(rank, 4_s * (rank + 1));
  world.engine.run(Time{} + 2_s);
  world.lose(1);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("42s gathered 0 2"));
}

// Two members are up at 5 s. But the gang also needs rank 0, the only pod of its role. Rank 0 is up
// at 50 s.
TEST(Rendezvous, ALastCallIsMadeOnceRolesHaveTheirMinimumsUp) {
  RendezvousWorld world{{.last_call = 30_s}, true};
  world.rendezvous.begin(world.job);
  world.bind(0, 50_s);
  world.bind(1, 2_s);
  world.bind(2, 5_s);
  world.engine.run();
  EXPECT_THAT(world.news, ElementsAre("50s gathered 0 1 2"));
}

TEST(Rendezvous, AGangThatLosesAPodWhichItsRoleNeedsWaitsForNodesAgain) {
  RendezvousWorld world{{.last_call = 30_s}, true};
  world.rendezvous.begin(world.job);
  world.bind(0, 1_s);
  world.bind(1, 2_s);
  world.bind(2, 40_s);
  world.engine.run(Time{} + 10_s);
  world.lose(0);
  EXPECT_THAT(world.news, ElementsAre("10s lost")) << "two have nodes, and that is not enough";
}

}  // namespace
}  // namespace orrery

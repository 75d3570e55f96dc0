#include "models/workload/lifecycle/state/job_phases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "tests/support/alike.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

struct JobPhasesWorld {
  JobTable jobs;
  JobNews news;
  JobPhases phases{jobs, news};
  JobId job = jobs.add(make_job(JobKind::MpiGang, 2, 8, 100_s));
};

TEST(JobPhases, ObserversOfTheChangeComeBeforeThoseOfTheNews) {
  JobPhasesWorld world;
  std::vector<std::string> logged;
  world.news.phase_changed.connect([&](JobId, JobPhase before, JobPhase after) {
    logged.push_back("news " + std::string{name_of(before)} + " " + std::string{name_of(after)});
  });
  world.phases.changing.connect([&](JobId, JobPhase before, JobPhase after) {
    logged.push_back("change " + std::string{name_of(before)} + " " + std::string{name_of(after)});
    EXPECT_EQ(world.phases.of(world.job), after);
  });
  world.phases.set(world.job, JobPhase::Starting);
  EXPECT_THAT(logged, ElementsAre("change pending starting", "news pending starting"));
}

TEST(JobPhases, NoSignalIfTheJobIsInThatPhaseAlready) {
  JobPhasesWorld world;
  int logged = 0;
  world.news.phase_changed.connect([&](JobId, JobPhase, JobPhase) { ++logged; });
  world.phases.set(world.job, JobPhase::Pending);
  EXPECT_EQ(logged, 0);
}

TEST(JobPhases, AHungJobRestartsOrGivesUp) {
  for (size_t to = 0; to < enum_names(JobPhase{}).size(); ++to) {
    JobPhasesWorld world;
    const auto phase = static_cast<JobPhase>(to);
    SCOPED_TRACE(name_of(phase));
    world.phases.set(world.job, JobPhase::Running);
    world.phases.set(world.job, JobPhase::Hung);
    const bool may = phase == JobPhase::Hung || phase == JobPhase::Restarting ||
                     phase == JobPhase::Failed || phase == JobPhase::Cancelled;
    if (may) {
      world.phases.set(world.job, phase);
      EXPECT_EQ(world.phases.of(world.job), phase);
    } else {
      EXPECT_THROW(world.phases.set(world.job, phase), CheckFailed);
      EXPECT_EQ(world.phases.of(world.job), JobPhase::Hung);
    }
  }
}

TEST(JobPhases, AJobThatIsOverStaysSo) {
  for (const JobPhase end : {JobPhase::Completed, JobPhase::Failed, JobPhase::Cancelled}) {
    JobPhasesWorld world;
    SCOPED_TRACE(name_of(end));
    world.phases.set(world.job, JobPhase::Running);
    world.phases.set(world.job, end);
    EXPECT_THROW(world.phases.set(world.job, JobPhase::Running), CheckFailed);
    EXPECT_THROW(world.phases.set(world.job, JobPhase::Pending), CheckFailed);
  }
}

TEST(JobPhases, AJobThatWaitsForNodesDoesNotHang) {
  JobPhasesWorld world;
  EXPECT_THROW(world.phases.set(world.job, JobPhase::Hung), CheckFailed);
}

}  // namespace
}  // namespace orrery

// The queue position of a gang that is placed as a whole, while its pods come and go one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/workload/job/pod_api.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

ProfileParams where_the_head_blocks(ProfileBase base) {
  ProfileParams profile = profile_of(base);
  profile.queue.head_of_line = HeadOfLine::Block;
  return profile;
}

JobSpec gang_that_comes(Duration at) {
  JobSpec job = make_job(JobKind::MpiGang, 2, 1, 10_min);
  job.submitted = Time{} + at;
  return job;
}

// The API makes pod 1 known after the delay `late`, and all other pods at once.
class LateSecond final : public PodApi {
 public:
  explicit LateSecond(Engine& engine) : engine_{engine} {}
  void create(PodId pod, Reply reply) override {
    reply(Creation::Answered);
    engine_.after(pod.index == 1 ? late : 0_s, Label{"test.pod_known"},
                  [reply = std::move(reply)] { reply(Creation::Known); });
  }
  void bind(PodId /*pod*/, NodeId /*node*/, Done done) override { done(true); }
  void start(PodId /*pod*/, NodeId /*node*/, Started started) override { started({}); }
  void evict(PodId /*pod*/, Reply /*reply*/) override {}
  void nominated(PodId /*pod*/) override {}
  void scheduling_failed(PodId /*pod*/) override {}
  void removed(PodId /*pod*/, NodeId /*node*/, Observed observed) override {
    if (observed) observed();
  }

  Duration late = 5_s;

 private:
  Engine& engine_;
};

// Two gangs wait behind a pod that holds all GPUs for a minute. Pod 1 is the first pod of the first
// gang. The scheduler observes pod 1 after all other pods. Row 1 of the result is the first gang.
std::vector<JobRow> rows_of_two_gangs(ProfileBase base, bool deletes_first_pod) {
  SchedulerWorld world{{2}, where_the_head_blocks(base)};
  LateSecond api{world.engine};
  world.controller.use(api);
  world.add({make_job(JobKind::Pods, 1, 2, 1_min), gang_that_comes(10_s), gang_that_comes(12_s)});
  if (deletes_first_pod) world.at(Time{} + 20_s, [&] { world.controller.preempt({1}, 0); });
  world.run();
  std::vector<JobRow> rows = world.job_rows();
  std::ranges::sort(rows, {}, &JobRow::job);
  EXPECT_EQ(rows.size(), 3u);
  return rows;
}

// As in kube-scheduler 1.36, a gang takes its place in the queue when the first of its pods
// arrives, whichever pod that is.
TEST(GangInLine, AGangStandsInLineSinceAnyOfItsPodsCame) {
  for (const ProfileBase base : {ProfileBase::NativeGang, ProfileBase::StrictGang}) {
    const std::vector<JobRow> rows = rows_of_two_gangs(base, false);
    EXPECT_LT(rows[1].running, rows[2].running);
  }
}

// The queue identifies a gang by its pod with the lowest rank. In the first gang, this is pod 1.
// Pod 1 is deleted while both gangs wait.
TEST(GangInLine, AGangKeepsItsPlaceWhenOneOfItsPodsIsDeleted) {
  for (const ProfileBase base : {ProfileBase::NativeGang, ProfileBase::StrictGang}) {
    const std::vector<JobRow> rows = rows_of_two_gangs(base, true);
    EXPECT_EQ(rows[1].preemptions, 1);
    EXPECT_LT(rows[1].running, rows[2].running);
  }
}

// The gang needs one of its two pods, and the deleted pod takes hours to come back.
TEST(GangInLine, TheRestOfAGangIsPlacedAfterOneOfItsPodsIsDeleted) {
  SchedulerWorld world{{2}, profile_of(ProfileBase::NativeGang)};
  LateSecond api{world.engine};
  world.controller.use(api);
  JobSpec gang = gang_that_comes(10_s);
  gang.gangs[0].min_available = 1;
  world.add({make_job(JobKind::Pods, 1, 2, 1_min), gang});
  world.at(Time{} + 20_s, [&] {
    api.late = 10_h;
    world.controller.preempt({1}, 0);
  });
  world.run();
  auto rows = world.job_rows();
  std::ranges::sort(rows, {}, &JobRow::job);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].outcome, JobOutcome::Completed);
  EXPECT_LT(rows[1].running, Time{} + 2_min);
}

}  // namespace
}  // namespace orrery

// Tests when a controller that idles ticks again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/controllers/action_rows.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

struct IdlerParams {
  static constexpr std::string_view kDoc = "How long it idles.";
  std::optional<Duration> idle_for = {};
  Duration wake_after = {};
  bool is_busy = false;

  template <class V>
  void fields(V& v) {
    v("idle_for", idle_for, "From each tick on; left out: until there is news.");
    v("wake_after", wake_after, "Time of the wake-up after each tick; 0: none.");
    v("is_busy", is_busy, "Never idles.");
  }
};

// Gives one action in each tick, so that /events/actions has the times of the ticks.
class Idler final : public Policy, public Controller {
 public:
  using Params = IdlerParams;
  Idler(const ControlBoard& /*board*/, const Params& params) : params_{params} {}
  void tick(const ControlBoard& board, Actions& actions) override {
    actions.give(UncordonNode{NodeId{0}}, "ticks");
    if (params_.wake_after > Duration{}) actions.wake_at(board.now() + params_.wake_after);
    if (params_.is_busy) return;
    actions.idle_until(params_.idle_for ? board.now() + *params_.idle_for : Time::max());
  }

 private:
  const Params params_;
};
ORRERY_REGISTER_POLICY(Idler, "Idler", "Idles as a test says.");

// Times in seconds at which the Idlers tick. `controllers` is the content of policy.controllers.
// The cluster has two nodes, and its only job arrives at 250 s.
std::vector<int64_t> ticks(const std::string& controllers, const std::string& until = "20min",
                           const std::string& rest = {}) {
  ScenarioRun run{
      "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 2}]}\n"
      "workload: {sources: [{kind: jobs, jobs: [{name: j, submit: 250s, work: 600s, pods: 1, pod: "
      "{gpus: 8}}]}]}\n" +
          rest + "run: {until: " + until + "}\npolicy: {controllers: [" + controllers + "]}\n",
      {}};
  std::vector<int64_t> seconds;
  for (const ActionRow& row : run.recorder.rows<ActionRow>("/events/actions")) {
    if (row.controller.view() != "Idler") continue;
    seconds.push_back((row.at - Time{}).ns / Duration{1_s}.ns);
  }
  return seconds;
}

TEST(Idling, ABusyControllerTicksOncePerPeriod) {
  EXPECT_THAT(ticks("{name: Idler, period: 5min, args: {is_busy: true}}"),
              ElementsAre(300, 600, 900, 1200));
}

TEST(Idling, ItEndsWithTheTickAfterAJobBeginsToWait) {
  EXPECT_THAT(ticks("{name: Idler, period: 1min}"), ElementsAre(60, 300));
}

TEST(Idling, ItEndsWithTheTickAfterANodeChanges) {
  EXPECT_THAT(ticks("{name: Idler, period: 1min}", "20min",
                    "faults: {list: [{node: gpu-1, at: 1000s, repair: 100s}]}\n"),
              ElementsAre(60, 300, 1020, 1140));
}

TEST(Idling, ItEndsInTime) {
  EXPECT_THAT(ticks("{name: Idler, period: 1min, args: {idle_for: 10min}}", "40min"),
              ElementsAre(60, 300, 900, 1500, 2100));
  EXPECT_THAT(ticks("{name: Idler, period: 1min, args: {idle_for: 30s}}", "5min"),
              ElementsAre(60, 120, 180, 240, 300))
      << "no tick of the period is earlier";
  EXPECT_THAT(ticks("{name: Idler, period: 1min, args: {idle_for: 601s}}", "40min"),
              ElementsAre(60, 300, 960, 1620, 2280))
      << "the first tick of the period that is not before that time";
}

TEST(Idling, WakeAtIsObservedMeanwhile) {
  EXPECT_THAT(ticks("{name: Idler, period: 1min, args: {wake_after: 500s}}", "25min"),
              ElementsAre(60, 300, 800, 1300));
  EXPECT_THAT(
      ticks("{name: Idler, period: 1min, args: {idle_for: 140s, wake_after: 130s}}", "8min"),
      ElementsAre(60, 190, 300, 430))
      << "the job ends the idling at 300 s, which is a whole number of periods";
}

// The job arrives in the instant of a tick, before the controllers' turn.
TEST(Idling, NewsOfTheInstantOfATickIsReadInThatInstant) {
  for (const std::string controllers :
       {"{name: Idler, period: 50s}", "{name: Idler, period: 50s}, {name: Idler, period: 125s}"}) {
    const std::vector<int64_t> found = ticks(controllers, "300s");
    EXPECT_EQ(found.back(), 250) << controllers;
  }
}

// Scripted suspends the job at 10 min. Idler ticks in this instant if its turn comes after that of
// Scripted, else one period later.
TEST(Idling, NewsOfAnotherControllerIsReadInTurn) {
  const std::string scripted =
      "{name: Scripted, period: 1s, args: {steps: [{at: 10min, action: suspend}]}}";
  const std::string idler = "{name: Idler, period: 5min}";
  EXPECT_THAT(ticks(scripted + ", " + idler), ElementsAre(300, 600)) << "its turn comes later";
  EXPECT_THAT(ticks(idler + ", " + scripted), ElementsAre(300, 900)) << "its turn is over";
}

TEST(Idling, AControllerThatIdlesStopsNoOther) {
  EXPECT_THAT(ticks("{name: Idler, period: 1min}, {name: Idler, period: 200s, args: {is_busy: "
                    "true}}"),
              ElementsAre(60, 200, 300, 400, 600, 800, 1000, 1200));
}

}  // namespace
}  // namespace orrery

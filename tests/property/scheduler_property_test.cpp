// Random small scenarios with faults under every base profile. Every job must be accounted for.
// After every event the run's invariants must hold: GPUs in use are those of live pods, and no GPU
// is in use once all jobs are over.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

int64_t figure(const SimulationResult& result, std::string_view name) {
  for (const SummaryValue& value : result.summary) {
    if (value.name == name) return std::get<int64_t>(value.value);
  }
  ADD_FAILURE() << "no figure " << name;
  return -1;
}

class RandomScenario {
 public:
  RandomScenario(uint64_t seed, bool has_timeouts) : random_{seed}, has_timeouts_{has_timeouts} {}

  std::string yaml() {
    nodes_ = pick(1, 6);
    std::string text = "cluster:\n  machines: [{name: box, base: hgx-h100, gpus: 4}]\n";
    text += "  pools: [{name: n, machine: box, count: " + std::to_string(nodes_) + "}]\n";
    text += "workload:\n";
    if (chance(3)) text += "  controller: {pod_creation_interval: 700ms, pods_per_sync_max: 2}\n";
    text += "  sources:\n  - kind: jobs\n    jobs:\n";
    const int jobs = pick(1, 12);
    for (int i = 0; i < jobs; ++i) text += job();
    text += "faults:\n  list:\n";
    const int faults = pick(1, 8);
    for (int i = 0; i < faults; ++i) {
      text += "  - {node: n-" + std::to_string(pick(0, nodes_ - 1)) + ", at: " + ms(0, 90'000) +
              ", repair: " + ms(1, 60'000) + "}\n";
    }
    text += "run: {stall_limit: 10min}\n";
    text += "policy:\n  queue: {pop_from_backoff: " + std::string{chance(2) ? "true" : "false"} +
            ", head_of_line: " + (chance(4) ? "block" : "skip") + "}\n";
    // A gang that can never fit is retried whenever the scheduler is idle. A slow scheduler makes
    // fewer such attempts, which keeps the test short.
    text += "  cost: {per_cycle: 50ms, bind: " + (chance(2) ? ms(0, 20'000) : "0ms") + "}\n";
    return text;
  }

 private:
  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  bool chance(int one_in) { return pick(1, one_in) == 1; }
  std::string ms(int least, int most) { return std::to_string(pick(least, most)) + "ms"; }
  std::string job() {
    const int pods = pick(1, 6);
    const bool is_gang = pods > 1 && !chance(4);
    bool gathers = is_gang;  // whether pods with nodes wait for other pods of their gang
    std::string text = "    - {kind: " + std::string{is_gang ? "mpi_gang" : "pods"};
    text += ", submit: " + ms(0, 60'000) + ", work: " + ms(0, 40'000);
    text += ", priority: " + std::to_string(pick(0, 2));
    if (is_gang && chance(3)) {
      text += ", gangs: [" + gang(pick(1, 3)) + ", " + gang(pick(1, 3)) + "]";
    } else {
      text += ", pods: " + std::to_string(pods);
      const int needed = is_gang && chance(3) ? pick(1, pods) : 0;
      if (needed > 0) text += ", min_available: " + std::to_string(needed);
      gathers = is_gang && needed != 1;
      text += ", pod: {gpus: " + std::to_string(pick(0, 4)) + "}";
    }
    text += ", training: {init: " + ms(0, 3'000);
    const bool keeps_survivors = chance(2), gives_up_soon = chance(4);
    if (is_gang && keeps_survivors) text += ", restart_scope: pod";
    if (chance(2)) text += ", restarts_max: " + std::to_string(pick(0, 3));
    const std::string timeout = ms(1, 20'000);
    if (gathers && has_timeouts_ && gives_up_soon) text += ", schedule_timeout: " + timeout;
    return text + "}}\n";
  }

  std::string gang(int pods) {
    const int needed = pick(1, pods), others = chance(2) ? pick(0, pods - 1) : 0;
    const int first = pods - others;
    // A minimum of the first role has an effect only if the gang's minimum does not imply it.
    // Example: a gang has 4 pods and needs 3; its first role has 3 pods. The gang then needs at
    // least 2 pods of the first role anyway, so only the minimum 3 has an effect.
    const int least = std::max(1, first - (pods - needed) + 1), most = std::min(first, needed);
    const int own = least <= most && chance(2) ? pick(least, most) : 0;
    return "{min_available: " + std::to_string(needed) + ", roles: [" + role(first, own) +
           (others > 0 ? ", " + role(others, 0) : "") + "]}";
  }
  std::string role(int pods, int needed) {
    return "{pods: " + std::to_string(pods) +
           (needed > 0 ? ", min_available: " + std::to_string(needed) : "") +
           ", pod: {gpus: " + std::to_string(pick(0, 4)) + "}}";
  }

  Rng random_;
  bool has_timeouts_;
  int nodes_ = 0;
};

class SchedulerProperty : public testing::TestWithParam<std::string> {};

TEST_P(SchedulerProperty, InvariantsHoldAfterEveryEventAndNothingStaysTaken) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const bool has_timeouts =
        GetParam() != "policy.base=default" && GetParam() != "policy.base=strict_gang";
    const std::string yaml = RandomScenario{seed, has_timeouts}.yaml();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << yaml);
    std::vector<std::string> overrides{GetParam()};
    // Koordinator's profile does not allow head_of_line: block.
    if (GetParam() == "policy.base=koordinator") {
      overrides.push_back("policy.queue.head_of_line=skip");
    }
    ScenarioRun run{yaml, overrides};
    const auto jobs = run.jobs();
    EXPECT_EQ(static_cast<int64_t>(jobs.size()), figure(run.result, "jobs_submitted"));
    EXPECT_EQ(figure(run.result, "jobs_submitted"), figure(run.result, "jobs_completed") +
                                                        figure(run.result, "jobs_failed") +
                                                        figure(run.result, "jobs_unfinished"));
    if (run.result.end == SimulationResult::End::Done) {
      EXPECT_EQ(figure(run.result, "jobs_unfinished"), 0);
    } else {
      EXPECT_TRUE(run.result.end == SimulationResult::End::Stalled ||
                  run.result.end == SimulationResult::End::Futile);
      EXPECT_GT(figure(run.result, "jobs_unfinished"), 0);
    }
    if (testing::Test::HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Profiles, SchedulerProperty,
                         testing::Values("policy.base=default", "policy.base=coscheduling",
                                         "policy.base=koordinator", "policy.base=strict_gang",
                                         "policy.base=native_gang"));

}  // namespace
}  // namespace orrery

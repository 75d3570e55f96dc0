// Random gangs of random priorities: none is ever half placed, and whoever preempts starts.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Priorities are 0 to 3.
class RandomGangs {
 public:
  explicit RandomGangs(uint64_t seed) : random_{seed} {}

  std::string yaml() {
    std::string text = "cluster:\n  machines: [{name: box, base: hgx-h100, gpus: 4}]\n";
    text += "  pools: [{name: n, machine: box, count: " + std::to_string(pick(2, 8)) + "}]\n";
    text += "workload:\n";
    if (pick(0, 1) == 0) text += "  controller: {termination: " + ms(1, 9'000) + "}\n";
    text += "  sources:\n  - kind: jobs\n    jobs:\n";
    const int jobs = pick(4, 20);
    for (int i = 0; i < jobs; ++i) {
      const bool is_gang = pick(0, 4) > 0;
      text += "    - {kind: " + std::string{is_gang ? "mpi_gang" : "pods"};
      text += ", submit: " + ms(0, 60'000) + ", work: " + ms(1'000, 40'000);
      text += ", priority: " + std::to_string(i < 2 ? i : pick(0, 3));
      text += ", pods: " + std::to_string(pick(1, 5));
      text += ", pod: {gpus: " + std::to_string(pick(1, 4)) +
              (pick(0, 5) == 0 ? ", preemption_policy: never" : "") + "}";
      text += ", training: {checkpoint_interval: " + ms(1'000, 20'000) + "}}\n";
    }
    const char* const levels[] = {"none", "delays", "full"};
    text += "control_plane: {level: " + std::string{levels[pick(0, 2)]} + "}\n";
    text += "run: {until: 20min}\n";
    const char* const orders[] = {"fewest", "volcano", "kueue"};
    text += "policy: {base: strict_gang, plugins: [{name: GangPreemption, args: {order: " +
            std::string{orders[pick(0, 2)]} + "}}], cost: {per_cycle: 5ms}}\n";
    return text;
  }

 private:
  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  std::string ms(int least, int most) { return std::to_string(pick(least, most)) + "ms"; }
  Rng random_;
};

// A preemptor of the highest priority is bound before it preempts again. Of lower ones the room may
// go to a gang that comes before them.
void expect_preemptors_start(const std::vector<PreemptionRow>& rows,
                             const std::map<uint64_t, std::vector<Time>>& bound) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].by_priority < 3) continue;
    Time last = rows[i].at;  // of this preemption
    for (size_t k = i + 1; k < rows.size(); ++k) {
      if (rows[k].by_job != rows[i].by_job) continue;
      if (rows[k].at <= last + 100_ms) {  // deletions of one preemption go through the servers
        last = rows[k].at;
        continue;
      }
      bool is_bound = false;
      for (const Time at : bound.at(rows[i].by_job)) {
        is_bound = is_bound || (at >= rows[i].at && at <= rows[k].at);
      }
      EXPECT_TRUE(is_bound) << "job " << rows[i].by_job << " preempts again at " << rows[k].at.ns
                            << " and has had no nodes since " << rows[i].at.ns;
      break;
    }
  }
}

TEST(GangPreemptionProperty, NoGangIsHalfPlacedAndWhoeverPreemptsStarts) {
  size_t preempted = 0;
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 60u : 300u); ++seed) {
    const std::string yaml = RandomGangs{seed}.yaml();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << yaml);
    ScenarioRun run{yaml};
    std::map<uint64_t, JobRow> jobs;
    for (const JobRow& row : run.jobs()) jobs[row.job] = row;
    const auto rows = run.recorder.rows<PreemptionRow>("/events/preemptions");
    for (const PreemptionRow& row : rows) EXPECT_LT(row.priority, row.by_priority);
    std::map<uint64_t, std::vector<Time>> bound;
    for (const auto& [job, row] : jobs) bound[job];
    for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) {
      if (row.bound != kNever) bound[row.job].push_back(row.bound);
    }
    for (const auto& [job, row] : jobs) {
      if (row.kind == JobKind::Pods || row.outcome != JobOutcome::Completed) continue;
      EXPECT_EQ(bound[job].size() % static_cast<size_t>(row.pods), 0U)
          << "job " << job << ": all its pods had nodes each time";
    }
    expect_preemptors_start(rows, bound);
    EXPECT_TRUE(run.deadlocks().empty());
    preempted += rows.size();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(preempted, 100U);
}

}  // namespace
}  // namespace orrery

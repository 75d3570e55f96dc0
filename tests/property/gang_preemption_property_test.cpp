// Random gangs of random priorities. No gang is ever half placed, preemptors get nodes, and
// preemption ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Draws a scenario of gangs and lone pods. Priorities are 0 to 3. The name of a job tells how many
// pods it needs, as "needs 3".
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
    // Length of the period in which jobs arrive.
    const int span_ms = pick(0, 2) == 0 ? 500 : 60'000;
    for (int i = 0; i < jobs; ++i) {
      const bool is_gang = pick(0, 4) > 0;
      const int pods = pick(1, 5);
      const int needed = !is_gang ? 1 : pick(0, 4) == 0 ? pick(1, pods) : pods;
      text += "    - {kind: " + std::string{is_gang ? "mpi_gang" : "pods"};
      text += ", name: needs " + std::to_string(needed);
      text += ", submit: " + ms(0, span_ms) + ", work: " + ms(1'000, 40'000);
      text += ", priority: " + std::to_string(i < 2 ? i : pick(0, 3));
      text += ", pods: " + std::to_string(pods);
      if (needed < pods && is_gang) text += ", min_available: " + std::to_string(needed);
      text += ", pod: {gpus: " + std::to_string(pick(1, 4)) +
              (pick(0, 5) == 0 ? ", preemption_policy: never" : "") + "}";
      text += ", training: {checkpoint_interval: " + ms(1'000, 20'000) + "}}\n";
    }
    text += "control_plane: " + control_plane() + "\n";
    text += "run: {until: 20min}\nrecord: {attempts: true}\n";
    const char* const orders[] = {"fewest", "volcano", "kueue"};
    text += "policy: {base: strict_gang, plugins: [{name: GangPreemption, args: {order: " +
            std::string{orders[pick(0, 2)]} + "}}], " + cost() + "}\n";
    return text;
  }

 private:
  // In a quarter of the worlds the scheduler may send only 1 to 5 requests a second. So it binds
  // and deletes the pods of a gang one after another.
  std::string control_plane() {
    const char* const levels[] = {"none", "delays", "full"};
    const int level = pick(0, 3);
    if (level < 3) return std::string{"{level: "} + levels[level] + "}";
    return "{level: full, clients: {scheduler: {qps: " + std::to_string(pick(1, 5)) +
           ", burst: 1}}}";
  }
  // In a third of the worlds cycles take no time, so many preemptions may fall into one instant. In
  // another third pods are bound late, so gangs are preempted before they are bound.
  std::string cost() {
    switch (pick(0, 2)) {
      case 0:
        return "cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}";
      case 1:
        return "cost: {per_cycle: 5ms, bind: " + ms(1, 2'000) + "}";
      default:
        return "cost: {per_cycle: 5ms}";
    }
  }
  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  std::string ms(int least, int most) { return std::to_string(pick(least, most)) + "ms"; }
  Rng random_;
};

struct Seen {
  explicit Seen(const std::string& yaml) : run{yaml} {
    for (const JobRow& row : run.jobs()) jobs[row.job] = row;
    for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) pods[row.job].push_back(row);
    attempts = run.recorder.rows<AttemptRow>("/events/attempts");
    preemptions = run.recorder.rows<PreemptionRow>("/events/preemptions");
  }
  ScenarioRun run;
  std::map<uint64_t, JobRow> jobs;
  std::map<uint64_t, std::vector<PodRow>> pods;  // one row for each life of a pod, by job
  std::vector<AttemptRow> attempts;
  std::vector<PreemptionRow> preemptions;
};

bool is_gang(const JobRow& job) { return job.kind != JobKind::Pods; }

// ---- no gang is half placed

// Follows how many pods of a gang have nodes. A stay begins when the first pod gets a node, and
// ends when no pod has a node. Each stay reaches the gang's minimum, unless the gang was preempted
// in the last 10 s of the stay. If the gang needs all its pods, no pod gets a node in a stay after
// one of the pods has ended.
void expect_never_half_placed(const Seen& seen, const JobRow& job) {
  const int needed = job.name.view().back() - '0';
  std::vector<std::pair<Time, int>> changes;
  for (const PodRow& life : seen.pods.at(job.job)) {
    if (life.bound == kNever) continue;
    changes.emplace_back(life.bound, 1);
    changes.emplace_back(life.ended, -1);
  }
  std::ranges::sort(changes);  // at equal times, -1 for an end precedes +1 for a binding
  const auto is_preempted_by = [&](Time when) {
    return std::ranges::any_of(seen.preemptions, [&](const PreemptionRow& row) {
      return row.job == job.job && row.at <= when && row.at >= when - 10_s;
    });
  };
  int placed = 0, placed_max = 0;
  Time began, first_end = kNever;
  for (const auto& [at, change] : changes) {
    if (placed == 0) {
      began = at;
      placed_max = 0;
      first_end = kNever;
    }
    placed += change;
    placed_max = std::max(placed_max, placed);
    if (change < 0 && first_end == kNever) first_end = at;
    if (change > 0 && needed == job.pods) {
      EXPECT_EQ(first_end, kNever) << "job " << job.job << " gets a node at " << at.ns
                                   << " beside pods that leave since " << first_end.ns;
    }
    if (placed == 0 && placed_max < needed) {
      EXPECT_TRUE(is_preempted_by(at)) << "job " << job.job << " has had " << placed_max << " of "
                                       << needed << " nodes from " << began.ns << " to " << at.ns;
    }
  }
}

// ---- preemption helps

// Whether a pod of higher priority than `priority` waited for a node at some time from `from` to
// `to`. This pod may have taken the resources that preemption freed. A pod that was never bound
// counts even if it ended before `from`.
bool waits_above(const Seen& seen, int32_t priority, Time from, Time to) {
  for (const auto& [id, lives] : seen.pods) {
    if (seen.jobs.at(id).priority <= priority) continue;
    for (const PodRow& life : lives) {
      if (life.created <= to && (life.bound == kNever || life.bound >= from)) return true;
    }
  }
  return false;
}

// A gang or lone pod that preempts gets nodes before it preempts again and before the run ends.
// Exception: a pod of higher priority may have taken them (waits_above()).
void expect_preemptors_start(const Seen& seen) {
  // Time of the last preemption by each gang or pod that was not scheduled since.
  std::map<std::pair<uint64_t, int32_t>, Time> since;
  const auto fails = [&](uint64_t job, Time from, Time to) {
    if (waits_above(seen, seen.jobs.at(job).priority, from, to)) return;
    ADD_FAILURE() << "job " << job << " has preempted at " << from.ns << " and had no nodes until "
                  << to.ns;
  };
  for (const AttemptRow& row : seen.attempts) {
    const std::pair key{row.job, is_gang(seen.jobs.at(row.job)) ? -1 : row.rank};
    const auto known = since.find(key);
    if (row.outcome == AttemptOutcome::Scheduled) {
      since.erase(key);
    } else if (row.victims > 0) {
      if (known != since.end()) fails(row.job, known->second, row.at);
      since[key] = row.at;
    }
  }
  for (const auto& [key, from] : since) fails(key.first, from, Time{} + 20_min);
}

// ---- preemption ends

// Victims have a lower priority than their preemptor. At one instant no pod is preempted twice, and
// no gang is preempted for two preemptors. A pod is preempted at most once before it is recreated,
// so a job has at most as many preemptions as PodRows.
void expect_no_cycles(const Seen& seen) {
  std::map<std::tuple<Time, uint64_t>, uint64_t> preemptor_of;
  std::set<std::tuple<Time, uint64_t, int32_t>> pods;
  for (const PreemptionRow& row : seen.preemptions) {
    EXPECT_LT(row.priority, row.by_priority);
    EXPECT_TRUE(pods.emplace(row.at, row.job, row.rank).second)
        << "pod " << row.rank << " of job " << row.job << " twice at " << row.at.ns;
    if (!is_gang(seen.jobs.at(row.job))) continue;
    const auto [known, is_new] = preemptor_of.try_emplace({row.at, row.job}, row.by_job);
    EXPECT_EQ(known->second, row.by_job)
        << "job " << row.job << " is preempted for two others at " << row.at.ns;
  }
  for (const auto& [id, lives] : seen.pods) {
    const auto rows = std::ranges::count(seen.preemptions, id, &PreemptionRow::job);
    EXPECT_LE(rows, std::ssize(lives)) << "job " << id << ": a life is preempted twice";
  }
}

TEST(GangPreemptionProperty, NoGangIsHalfPlacedAndPreemptionHelpsAndEnds) {
  const uint64_t worlds = test::kIsSanitized ? 60 : 300;
  size_t preempted = 0;
  for (uint64_t seed = 1; seed <= worlds; ++seed) {
    const std::string yaml = RandomGangs{seed}.yaml();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << yaml);
    Seen seen{yaml};
    for (const auto& [id, job] : seen.jobs) {
      if (is_gang(job)) expect_never_half_placed(seen, job);
    }
    expect_preemptors_start(seen);
    expect_no_cycles(seen);
    EXPECT_TRUE(seen.run.deadlocks().empty());
    preempted += seen.preemptions.size();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(preempted, 4 * worlds) << "the worlds hardly preempt";
}

}  // namespace
}  // namespace orrery

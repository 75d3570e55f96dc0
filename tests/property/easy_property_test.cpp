// EASY backfilling against a plain simulation that visits every job at every instant.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/core/rng.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

constexpr int kProcessors = 20;

struct PlainJob {
  int64_t submit = 0, run = 0, requested = 0;
  int size = 0;
  int64_t start = -1;
  bool is_running_at(int64_t now) const { return start >= 0 && now < start + run; }
};

// One scheduling pass of EASY backfilling at `now`, after all ends and arrivals of that instant.
// If `by_length` is set, jobs with a shorter requested time are backfilled first.
void look(std::vector<PlainJob>& jobs, int64_t now, bool by_length) {
  int free = kProcessors;
  std::vector<PlainJob*> running, waiting;
  for (PlainJob& job : jobs) {
    if (job.is_running_at(now)) {
      free -= job.size;
      running.push_back(&job);
    } else if (job.start < 0 && job.submit <= now) {
      waiting.push_back(&job);
    }
  }
  const auto start = [&](PlainJob* job) {
    job->start = now;
    free -= job->size;
    running.push_back(job);
    std::erase(waiting, job);
  };
  while (!waiting.empty() && waiting.front()->size <= free) start(waiting.front());
  if (waiting.empty()) return;
  const auto end = [](const PlainJob* job) { return job->start + job->requested; };
  std::ranges::sort(running, {}, end);
  int available = free;
  int64_t shadow = now;
  for (const PlainJob* job : running) {
    if (available >= waiting.front()->size) break;
    available += job->size;
    shadow = end(job);
  }
  available = free;
  for (const PlainJob* job : running) available += end(job) <= shadow ? job->size : 0;
  int extra = available - waiting.front()->size;
  std::vector<PlainJob*> candidates{waiting.begin() + 1, waiting.end()};
  if (by_length) std::ranges::stable_sort(candidates, {}, &PlainJob::requested);
  for (PlainJob* const job : candidates) {
    if (job->size > free) continue;
    const bool is_short = now + job->requested <= shadow;
    if (!is_short && job->size > extra) continue;
    start(job);
    if (!is_short) extra -= job->size;
  }
}

void simulate_plainly(std::vector<PlainJob>& jobs, bool by_length) {
  std::map<int64_t, bool> times;
  for (const PlainJob& job : jobs) times[job.submit] = true;
  while (!times.empty()) {
    const int64_t now = times.begin()->first;
    look(jobs, now, by_length);
    for (const PlainJob& job : jobs) {
      if (job.start == now) times[now + job.run] = true;
    }
    times.erase(now);
  }
}

std::vector<PlainJob> draw(Rng& rng) {
  std::vector<PlainJob> jobs(80);
  int64_t submit = 0;
  for (PlainJob& job : jobs) {
    submit += static_cast<int64_t>(rng.below(8));
    job.submit = submit;
    job.run = static_cast<int64_t>(rng.below(40)) + 1;
    job.requested = job.run + static_cast<int64_t>(rng.below(2) * rng.below(60));
    job.size = static_cast<int>(rng.below(rng.below(4) == 0 ? kProcessors : 5)) + 1;
  }
  return jobs;
}

std::string scenario_of(const std::vector<PlainJob>& jobs, bool by_length) {
  std::string yaml = "cluster:\n  machines: [{name: m, base: cpu-32, cpus: 1}]\n";
  yaml += "  pools: [{name: n, machine: m, count: " + std::to_string(kProcessors) + "}]\n";
  yaml += "workload:\n  sources:\n  - kind: jobs\n    jobs:\n";
  for (const PlainJob& job : jobs) {
    yaml += "    - {submit: " + std::to_string(job.submit);
    yaml += "s, work: " + std::to_string(job.run) + "s, requested: ";
    yaml += std::to_string(job.requested) + "s, pods: " + std::to_string(job.size);
    yaml += ", pod: {cpus: 1}}\n";
  }
  yaml += "policy: {driver: counting, job_queue: {counts: [cpus], policies: [{name: EASY, args: ";
  yaml += by_length ? "{backfill: shortest}" : "{backfill: queue}";
  return yaml + "}]}}\n";
}

TEST(EasyProperty, StartsAreThoseOfAPlainSimulation) {
  const RngStreams streams{5};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const bool by_length : {false, true}) {
      Rng rng = streams.stream("test.easy", seed);
      std::vector<PlainJob> jobs = draw(rng);
      ScenarioRun run{scenario_of(jobs, by_length)};
      simulate_plainly(jobs, by_length);
      std::vector<JobRow> rows = run.jobs();
      std::ranges::sort(rows, {}, &JobRow::job);
      ASSERT_EQ(rows.size(), jobs.size());
      for (size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_EQ(rows[i].running, Time{} + 1_s * jobs[i].start)
            << "seed " << seed << ", job " << i << ", by length " << by_length;
      }
    }
  }
}

}  // namespace
}  // namespace orrery

// Jobs through the job queue per second of one core, against the length of the queue and the size
// of the pool; and a year-long log of a large machine under EASY, with the memory that it takes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <deque>
#include <fstream>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "models/cluster.hpp"
#include "sim/config/node.hpp"
#include "sim/config/parse.hpp"

namespace orrery {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double resident_mib() {
  std::ifstream file{"/proc/self/statm"};
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096 / (1 << 20);
}

struct Figures {
  uint64_t jobs = 0;
  double seconds = 0, waiting = 0, slowdown = 0, growth_mib = 0;
};

Figures run(const std::string& yaml) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "bench.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  Figures figures;
  if (!diagnostics.ok()) {
    std::fputs(diagnostics.text().c_str(), stderr);
    return figures;
  }
  const double memory = resident_mib();
  Engine engine;
  const RngStreams rng{1};
  NullRecorder recorder;
  Ground ground{scenario.cluster, scenario.run.seed};
  Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  recorder.start();
  double waiting = 0, samples = 0, peak = 0;
  engine.set_poll(20'000, [&] {
    waiting += static_cast<double>(cluster.job_queue()->jobs_waiting());
    ++samples;
    peak = std::max(peak, resident_mib());
  });
  const double began = cpu_seconds();
  cluster.start();
  engine.run(Time::max());
  figures.seconds = cpu_seconds() - began;
  figures.jobs = cluster.controller().counters().completed;
  figures.waiting = samples == 0 ? 0 : waiting / samples;
  figures.growth_mib = std::max(peak, resident_mib()) - memory;
  return figures;
}

constexpr struct {
  int pods, seconds;
} kKinds[] = {{1, 500}, {1, 100}, {2, 300}, {8, 50}, {16, 20}};

// Jobs of five sizes and lengths: first as many at once as shall wait, then one whenever the pool
// has, on the mean, worked one off.
std::string standing_queue(const std::string& policies, int64_t nodes, int64_t queue,
                           int64_t jobs) {
  std::string yaml = "cluster:\n  machines: [{name: m, base: cpu-32, cpus: 1}]\n";
  yaml += "  pools: [{name: n, machine: m, count: " + std::to_string(nodes) + "}]\n";
  yaml += "workload:\n  sources:\n  - kind: jobs\n    jobs:\n";
  double area = 0;
  for (const auto& kind : kKinds) area += kind.pods * kind.seconds;
  const auto every_us = static_cast<int64_t>(std::ceil(area / static_cast<double>(nodes) * 1e6));
  for (const auto& kind : kKinds) {
    const std::string job = "{pods: " + std::to_string(kind.pods) +
                            ", pod: {cpus: 1}, work: " + std::to_string(kind.seconds) +
                            "s, count: ";
    const auto add = [&](int64_t count, const std::string& rest) {
      yaml += "    - " + job;
      yaml += std::to_string(count) + rest + "}\n";
    };
    // The pool is full at first, and then the queue stands.
    add(std::max<int64_t>(1, queue / 5 + nodes / 28), "");
    add(jobs / 5, ", submit: 1s, every: " + std::to_string(every_us) + "us");
  }
  yaml += "policy: {driver: counting, job_queue: {counts: [cpus], policies: " + policies;
  return yaml +
         ", estimates: {kind: exact}}}\nrecord: {timeline: {interval: 24h, teams_interval: 0s}}\n";
}

// The same jobs without an engine, a cluster or figures: a heap of ends, a queue, strictly first
// come, first served. Least CPU time of three runs; jobs a second.
double bare_loop(int64_t nodes, int64_t queue, int64_t jobs) {
  struct Job {
    int64_t submit, run, pods;
  };
  std::vector<Job> all;
  double area = 0;
  for (const auto& kind : kKinds) area += kind.pods * kind.seconds;
  const auto every = static_cast<int64_t>(std::ceil(area / static_cast<double>(nodes) * 1e6));
  for (const auto& kind : kKinds) {
    for (int64_t i = 0; i < std::max<int64_t>(1, queue / 5 + nodes / 28); ++i) {
      all.push_back({0, kind.seconds * 1'000'000LL, kind.pods});
    }
  }
  for (int64_t i = 0; i < jobs / 5; ++i) {
    for (const auto& kind : kKinds) {
      all.push_back({1'000'000 + every * i, kind.seconds * 1'000'000LL, kind.pods});
    }
  }
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    const double began = cpu_seconds();
    using End = std::pair<int64_t, int64_t>;  // when, how many are freed
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    std::deque<size_t> waiting;
    int64_t free = nodes;
    for (size_t next = 0; next < all.size() || !ends.empty();) {
      const bool is_end =
          !ends.empty() && (next == all.size() || ends.top().first <= all[next].submit);
      const int64_t now = is_end ? ends.top().first : all[next].submit;
      if (is_end) {
        free += ends.top().second;
        ends.pop();
      } else {
        waiting.push_back(next++);
      }
      while (!waiting.empty() && all[waiting.front()].pods <= free) {
        const Job& job = all[waiting.front()];
        free -= job.pods;
        ends.push({now + job.run, job.pods});
        waiting.pop_front();
      }
    }
    least = std::min(least, cpu_seconds() - began);
  }
  return static_cast<double>(all.size()) / least;
}

struct Policy {
  const char* name;
  const char* yaml;
  int64_t queue_max;  // beyond that a row would take minutes
};
constexpr Policy kPolicies[] = {
    {"FIFO", "[{name: Strict}]", 100'000},
    {"FIFO skip", "[{name: Skip}]", 100'000},
    {"SJF", "[{name: SJF}]", 100'000},
    {"EASY", "[{name: EASY}]", 100'000},
    {"EASY-SJBF", "[{name: EASY, args: {backfill: shortest}}]", 100'000},
    {"SlurmBackfill", "[{name: SlurmBackfill}]", 10'000},
    {"SRTF", "[{name: SRTF}]", 1'000},
    {"Conservative", "[{name: Conservative}]", 1'000},
};

void measure(const Policy& policy, int64_t nodes, int64_t queue, int64_t jobs) {
  const std::string yaml = standing_queue(policy.yaml, nodes, queue, jobs);
  Figures best = run(yaml);
  for (int round = 0; round < 2; ++round) {
    const Figures again = run(yaml);
    if (again.seconds < best.seconds) best = again;
  }
  const double rate = static_cast<double>(best.jobs) / best.seconds;
  std::printf("| %-13s | %7lld | %8.0f | %8llu | %10.0f | %6.1f |\n", policy.name,
              static_cast<long long>(nodes), best.waiting,
              static_cast<unsigned long long>(best.jobs), rate,
              bare_loop(nodes, queue, jobs) / rate);
  std::fflush(stdout);
}

void measure_curves() {
  std::printf("| policy        |   nodes |  waiting |     jobs | jobs/CPU s |   bare |\n");
  std::printf("|---------------|--------:|---------:|---------:|-----------:|-------:|\n");
  for (const Policy& policy : kPolicies) {
    for (const int64_t queue : {10, 100, 1'000, 10'000, 100'000}) {
      if (queue > policy.queue_max) continue;
      const int64_t jobs = policy.queue_max >= 100'000 ? 300'000 : 20'000;
      measure(policy, 1'000, queue, jobs);
    }
  }
  for (const Policy& policy : {kPolicies[0], kPolicies[3]}) {
    for (const int64_t nodes : {100, 10'000, 100'000}) {
      measure(policy, nodes, 100, 300'000);
    }
  }
}

// A log of the size and load of RICC-2010-2: 8,192 processors, 153 days, 447,794 jobs.
std::string write_log(const std::string& path, int64_t jobs) {
  constexpr int kSizes[] = {1, 1, 1, 1, 1, 1, 2, 8, 32, 128};
  const RngStreams streams{1};
  Rng rng = streams.stream("bench.log");
  std::ofstream log{path};
  log << "; MaxProcs: 8192\n";
  double submit = 0;
  for (int64_t i = 1; i <= jobs; ++i) {
    submit += rng.exponential() * 27.3;
    const int size = kSizes[rng.below(10)];
    const auto run = static_cast<int64_t>(std::min(rng.lognormal(7.1, 2.4), 259'200.0)) + 1;
    const auto asked = static_cast<int64_t>(static_cast<double>(run) * (1 + 4 * rng.uniform()));
    log << i << ' ' << static_cast<int64_t>(submit) << " -1 " << run << ' ' << size << " -1 -1 "
        << size << ' ' << asked << " -1 1 " << rng.below(176) << " 1 -1 1 -1 -1 -1\n";
  }
  return path;
}

void measure_log(int64_t jobs) {
  const std::string path = write_log("/tmp/orrery_bench_queueing.swf", jobs);
  std::string yaml =
      "cluster:\n  machines: [{name: m, base: cpu-32, cpus: 8}]\n"
      "  pools: [{name: n, machine: m, count: 1024}]\n"
      "workload: {sources: [{kind: trace, format: swf, file: " +
      path +
      "}]}\n"
      "policy: {driver: counting, job_queue: {counts: [cpus], policies: [{name: EASY}]}}\n"
      "record: {timeline: {interval: 24h, teams_interval: 0s}}\n";
  const Figures figures = run(yaml);
  std::printf("| %8llu | %8.2f | %8.0f | %8.1f |\n", static_cast<unsigned long long>(figures.jobs),
              figures.seconds, figures.waiting, figures.growth_mib);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace orrery

int main() {
  std::printf("A log of 8,192 processors under EASY, requested times, read from SWF:\n\n");
  std::printf(
      "|     jobs |    CPU s |  waiting | MiB more "
      "|\n|---------:|---------:|---------:|---------:|\n");
  orrery::measure_log(447'794 / 4);
  orrery::measure_log(447'794);
  orrery::measure_log(447'794 * 4);
  std::printf("\n");
  orrery::measure_curves();
}

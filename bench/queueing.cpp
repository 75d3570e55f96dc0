// bench/queueing.cpp -- jobs that pass the job queue per second of CPU time, by the length of the
// queue, the size of the pool and the number of users. Also the CPU time to simulate long
// job logs of a large machine.
//
//   bench_queueing [POLICY...]     without names: all policies, and the logs
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/support/curve.hpp"
#include "bench/support/jobs.hpp"
#include "bench/support/world.hpp"

namespace orrery::bench {
namespace {

constexpr Kind kKinds[] = {{.pods = 1, .seconds = 500},
                           {.pods = 1, .seconds = 100},
                           {.pods = 2, .seconds = 300},
                           {.pods = 8, .seconds = 50},
                           {.pods = 16, .seconds = 20}};

struct Policy {
  const char* name;
  const char* yaml;
  int64_t users = 0;       // number of users who submit the jobs
  bool are_teams = false;  // each user is a team, too
};
constexpr Policy kPolicies[] = {
    {"FIFO", "[{name: Strict}]"},
    {"FIFO skip", "[{name: Skip}]"},
    {"SJF", "[{name: SJF}]"},
    {"QSSF", "[{name: QSSF}]"},
    {"EASY", "[{name: EASY}]"},
    {"EASY-SJBF", "[{name: EASY, args: {backfill: shortest}}]"},
    {"SlurmBackfill", "[{name: SlurmBackfill}]"},
    {"Conservative", "[{name: Conservative}]"},
    {"SlurmMultifactor",
     "[{name: SlurmMultifactor, args: {weight_age: 1000, weight_fairshare: 10000}}]", 20},
    {"DRF", "[{name: DRF}]", 20},
    {"KubeDL", "[{name: KubeDL, args: {schedule_period: 1ms}}]", 20, true},
    // Each of 10 users has a quota: half of an equal share of the cores, but at least 16 cores.
    // Jobs beyond the quota wait.
    {"Quota, Skip", "[{name: Quota, args: {of: user, limits: {LIMITS}}}, {name: Skip}]", 20},
    {"SRTF", "[{name: SRTF}]"},
    {"Tiresias dlas", "[{name: Tiresias, args: {by: dlas, limits: [60, 200, 1000]}}]"},
    {"Tiresias gpu", "[{name: Tiresias, args: {by: dlas_gpu, limits: [60, 200, 1000]}}]"},
    {"Tiresias gittins", "[{name: Tiresias, args: {by: gittins, gittins_delta: 60}}]"},
    {"Gavel max-min", "[{name: Gavel, args: {round: 10s}}]"},
    {"Gavel finish", "[{name: Gavel, args: {objective: finish_time, round: 10s}}]"},
    {"Themis", "[{name: Themis}]"},
    {"Lucid", "[{name: Lucid, args: {busy_arrivals: -1, score_of_others: 1}}]"},
};

// The YAML of `policy`, in which LIMITS is replaced by limits that depend on the number of nodes.
std::string policies_of(const Policy& policy, int64_t nodes) {
  std::string yaml = policy.yaml;
  const size_t at = yaml.find("LIMITS");
  if (at == std::string::npos) return yaml;
  std::string limits;
  for (int64_t u = 0; u < policy.users / 2; ++u) {
    limits += (u == 0 ? "u" : ", u") + std::to_string(u) + ": ";
    limits += std::to_string(std::max<int64_t>(nodes / policy.users / 2, 16));
  }
  return yaml.replace(at, 6, limits);
}

struct Point {
  int64_t nodes = 1'000, waiting = 100, users = 0;
  bool are_teams = false;
  auto operator<=>(const Point&) const = default;
};
std::vector<Batch> work_of(const Point& point) {
  return batches_of({.kinds = kKinds,
                     .capacity = point.nodes,
                     .waiting = point.waiting,
                     .jobs = 300'000,
                     .users = point.users,
                     .are_teams = point.are_teams});
}

double bare_rate(Point point) {
  static std::map<Point, double> known;
  point.users = 0;
  point.are_teams = false;
  const auto [found, is_new] = known.try_emplace(point);
  if (is_new) found->second = bare_pool(bare_jobs(work_of(point)), point.nodes);
  return found->second;
}

std::string scenario_of(const Policy& policy, const Point& point) {
  std::string yaml = "cluster:\n  machines: [{name: m, base: cpu-32, cpus: 1}]\n";
  yaml += "  pools: [{name: n, machine: m, count: " + std::to_string(point.nodes) + "}]\n";
  yaml += workload_of(work_of(point));
  yaml += "policy: {driver: counting, job_queue: {counts: [cpus], estimates: {kind: exact}, ";
  yaml += "policies: " + policies_of(policy, point.nodes) + "}}\n";
  return yaml + "record: {timeline: {interval: 24h, teams_interval: 0s}}\n";
}

Window measure(const Policy& policy, const Point& point) {
  const auto jobs_before = static_cast<uint64_t>(std::min<int64_t>(point.nodes / 20, 500) + 20);
  return least_window(scenario_of(policy, point),
                      {.jobs_before = jobs_before, .jobs = 100'000, .seconds = 1.5});
}

void measure_against_queue(const Policy& policy) {
  Curve curve{policy.name, "waiting", Curve::Per::Event};
  for (const int64_t waiting : {10, 100, 1'000, 10'000, 100'000}) {
    if (curve.is_over()) return;
    const Point point{.waiting = waiting, .users = policy.users, .are_teams = policy.are_teams};
    curve.add(point.nodes, 0, measure(policy, point), bare_rate(point));
  }
}

void measure_against_nodes(const Policy& policy) {
  Curve curve{policy.name, "nodes", Curve::Per::Event};
  for (const int64_t nodes : {100, 1'000, 10'000, 100'000}) {
    if (curve.is_over()) return;
    const Point point{.nodes = nodes, .users = policy.users, .are_teams = policy.are_teams};
    curve.add(nodes, static_cast<double>(nodes), measure(policy, point), bare_rate(point));
  }
}

void measure_against_users(const Policy& policy) {
  Curve curve{policy.name, "users", Curve::Per::Event};
  for (const int64_t users : {10, 100, 1'000, 10'000}) {
    if (curve.is_over()) return;
    const Point point{.waiting = 20'000, .users = users, .are_teams = policy.are_teams};
    curve.add(point.nodes, static_cast<double>(users), measure(policy, point), bare_rate(point));
  }
}

// Writes a log of `jobs` jobs in SWF, with about the arrival rate and sizes of RICC-2010-2, which
// has 447,794 jobs in 153 days on 8,192 processors.
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
  const std::string path = write_log(scratch_file(".swf"), jobs);
  std::string yaml =
      "cluster:\n  machines: [{name: m, base: cpu-32, cpus: 8}]\n"
      "  pools: [{name: n, machine: m, count: 1024}]\n"
      "workload: {sources: [{kind: trace, format: swf, file: " +
      path +
      "}]}\n"
      "policy: {driver: counting, job_queue: {counts: [cpus], policies: [{name: EASY}]}}\n"
      "record: {timeline: {interval: 24h, teams_interval: 0s}}\n";
  const Window window = run_window(yaml, {.jobs = UINT64_MAX, .seconds = 100});
  std::printf("| %8llu | %8.2f | %8.0f | %8.1f |\n", static_cast<unsigned long long>(window.jobs),
              window.seconds, window.waiting, window.growth_mib);
  std::fflush(stdout);
  std::remove(path.c_str());
}

void measure_logs() {
  std::printf("A log of 8,192 processors under EASY, requested times, read from SWF:\n\n");
  std::printf("|     jobs |    CPU s |  waiting | MiB more |\n");
  std::printf("|---------:|---------:|---------:|---------:|\n");
  measure_log(447'794 / 4);
  measure_log(447'794);
  measure_log(447'794 * 4);
}

void measure_all(std::span<const std::string_view> names) {
  const auto is_meant = [&](const Policy& policy) {
    return names.empty() || std::ranges::find(names, policy.name) != names.end();
  };
  std::printf("\nBy length of the queue:\n\n");
  Curve::print_head("bare loop");
  for (const Policy& policy : kPolicies) {
    if (is_meant(policy)) measure_against_queue(policy);
  }
  std::printf("\nBy size of the pool:\n\n");
  Curve::print_head("bare loop");
  for (const Policy& policy : kPolicies) {
    if (is_meant(policy)) measure_against_nodes(policy);
  }
  std::printf("\nBy number of users, 20,000 waiting jobs:\n\n");
  Curve::print_head("bare loop");
  for (const Policy& policy : kPolicies) {
    if (policy.users > 0 && is_meant(policy)) measure_against_users(policy);
  }
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  const std::vector<std::string_view> names{argv + 1, argv + argc};
  if (names.empty()) orrery::bench::measure_logs();
  orrery::bench::measure_all(names);
}

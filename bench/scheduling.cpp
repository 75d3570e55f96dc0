// bench/scheduling.cpp -- jobs and pods simulated per CPU second, and the memory of a large
// cluster.
//
//   bench_scheduling [NAME...]     only these loads: `burst`, `overload`, or a row of the table
//                                  "Churn", such as `unlike`. Without names, all loads run, and the
//                                  memory is measured.
#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/jobs.hpp"
#include "bench/support/placement.hpp"
#include "bench/support/world.hpp"

namespace orrery::bench {
namespace {

// 100 gangs of 512 whole nodes arrive at once; 14 of them fit at a time.
constexpr const char* kBurst = R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 7500}]}
workload:
  sources:
  - kind: jobs
    jobs: [{name: gang, count: 100, pods: 512, pod: {gpus: 8}, work: 1h}]
run: {until: 12h}
)";

void run_burst(const char* profile) {
  const std::string yaml = std::string{kBurst} + "policy: {base: " + profile + "}\n";
  const Window w = run_window(yaml, {.jobs = UINT64_MAX, .seconds = 100});
  std::printf("| %-12s | %9llu | %9llu | %8.2f | %10.0f | %12.0f |\n", profile,
              static_cast<unsigned long long>(w.attempts), static_cast<unsigned long long>(w.pods),
              w.seconds, static_cast<double>(w.pods) / w.seconds,
              static_cast<double>(w.attempts) / w.seconds);
  std::fflush(stdout);
}

constexpr std::array<Profile, 4> kProfiles{
    {{"default", "{base: default}"},
     {"strict_gang", "{base: strict_gang}"},
     {"default, EASY",
      "{base: default, job_queue: {estimates: {kind: exact}, policies: [{name: EASY}]}}"},
     {"strict_gang, EASY",
      "{base: strict_gang, job_queue: {estimates: {kind: exact}, policies: [{name: EASY}]}}"}}};

void run_churn(const char* name, int64_t nodes, std::span<const Batch> batches,
               const WindowLimits& limits) {
  const double bare = bare_nodes(bare_jobs(batches), nodes, kGpusPerNode);
  for (const Profile& profile : kProfiles) {
    const Window w = least_window(scenario_of(profile, nodes, batches), limits);
    std::printf("| %-8s | %6lld | %-17s | %10.0f | %10.0f | %9.1f |\n", name,
                static_cast<long long>(nodes), profile.name, w.jobs_per_s(),
                static_cast<double>(w.pods) / w.seconds, bare / w.jobs_per_s());
    std::fflush(stdout);
  }
}

void run_churn(int64_t nodes, const Mix& mix) {
  run_churn(mix.name, nodes, batches_of(Churn{.nodes = nodes, .mix = &mix}),
            {.jobs_before = 10'000, .jobs = 100'000});
}

// Each job has one pod with one GPU, and its own number of cores, so no cached filter result
// applies to the next job. 6,000 jobs run at a time.
void run_unlike(int64_t nodes) {
  std::vector<Batch> batches;
  for (int64_t i = 0; i < 20'000; ++i) {
    batches.push_back({.kind = {.gpus = 1, .seconds = 60, .cpu_milli = 1'000 + i},
                       .run_us = 60'000'000,
                       .count = 1,
                       .submit_us = 10'000 * i});
  }
  run_churn("unlike", nodes, batches, {.jobs_before = 1'000, .jobs = 10'000, .seconds = 10});
}

void measure_memory() {
  const double before = resident_mib();
  PoolParams pool;
  pool.name = "gpu";
  pool.machine = "dgx-a100";
  pool.count = 100'000;
  ClusterParams params;
  params.pools.push_back(pool);
  ClusterState cluster;
  static_cast<void>(build_nodes(params, cluster, 1));
  std::printf("\n100,000 nodes x 8 GPUs: %.0f MiB resident, of which arrays and sets %.0f MiB\n",
              resident_mib() - before, static_cast<double>(cluster.memory_bytes()) / (1 << 20));
}

void measure_churn(std::span<const std::string_view> names) {
  const auto is_meant = [&](std::string_view name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  std::printf("\nChurn: jobs that come and go\n\n");
  std::printf("| jobs     |  nodes | profile           | jobs/CPU s | pods/CPU s | bare loop |\n");
  std::printf("|----------|-------:|-------------------|-----------:|-----------:|----------:|\n");
  for (const Mix& mix : mixes()) {
    if (is_meant(mix.name)) run_churn(7'500, mix);
  }
  if (is_meant(mixes().front().name)) run_churn(802, mixes().front());
  if (is_meant("unlike")) run_unlike(10'000);
}

void measure_burst() {
  std::printf("\nBurst: 100 gangs of 512 whole-node pods at one instant\n\n");
  std::printf("| profile      |  attempts |      pods |    CPU s | pods/CPU s | cycles/CPU s |\n");
  std::printf("|--------------|----------:|----------:|---------:|-----------:|-------------:|\n");
  for (const char* profile : {"strict_gang", "default", "coscheduling"}) run_burst(profile);
}

// A long job holds 100 of 128 nodes. Gangs of two nodes come and go on the other 28. Whenever such
// a gang ends, the waiting gangs wake. Each waiting gang needs 64 nodes, so none fits before the
// long job ends.
void measure_overload() {
  std::printf(
      "\nOverload: cost of each end of a job while waiting gangs cannot fit (strict_gang)\n\n");
  std::printf("| gangs waiting | attempts/end | us of CPU/end |\n");
  std::printf("|--------------:|-------------:|--------------:|\n");
  for (const int gangs : {0, 10, 100, 1'000}) {
    const std::string waiting = "      - {count: " + std::to_string(std::max(gangs, 1)) +
                                ", submit: " + (gangs == 0 ? "10000h" : "1s") +
                                ", pods: 64, work: 1h, pod: {gpus: 8}}\n";
    const std::string yaml = R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 128}]}
policy: {base: strict_gang}
record: {timeline: {interval: 10h}}
workload:
  sources:
  - kind: jobs
    jobs:
      - {pods: 100, work: 9000h, pod: {gpus: 8}}
      - {count: 20000, every: 45s, pods: 2, work: 10min, pod: {gpus: 8}}
)" + waiting + "run: {until: 9000h}\n";
    const Window w = least_window(yaml, {.jobs_before = 100, .jobs = 2'000, .seconds = 20});
    const auto ends = static_cast<double>(std::max<uint64_t>(w.jobs, 1));
    std::printf("| %13d | %12.1f | %13.1f |\n", gangs, static_cast<double>(w.attempts) / ends,
                1e6 * w.seconds / ends);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  const std::vector<std::string_view> names{argv + 1, argv + argc};
  const auto is_meant = [&](std::string_view name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  if (names.empty()) orrery::bench::measure_memory();
  orrery::bench::measure_churn(names);
  if (is_meant("burst")) orrery::bench::measure_burst();
  if (is_meant("overload")) orrery::bench::measure_overload();
}

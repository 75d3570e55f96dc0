// Pods scheduled per second of one core, from the arrival of their jobs to their end, and what a
// large cluster takes in memory.
#include <array>
#include <cstdio>
#include <string>

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

void run_churn(int64_t nodes, const Mix& mix) {
  const Churn churn{.nodes = nodes, .mix = &mix};
  const double bare = bare_nodes(bare_jobs(batches_of(churn)), nodes, kGpusPerNode);
  for (const Profile& profile : kProfiles) {
    const Window w =
        least_window(scenario_of(profile, churn), {.jobs_before = 10'000, .jobs = 100'000});
    std::printf("| %-8s | %6lld | %-17s | %10.0f | %10.0f | %9.1f |\n", mix.name,
                static_cast<long long>(nodes), profile.name, w.jobs_per_s(),
                static_cast<double>(w.pods) / w.seconds, bare / w.jobs_per_s());
    std::fflush(stdout);
  }
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

void measure_all() {
  measure_memory();
  std::printf("\nChurn: jobs that come and go\n\n");
  std::printf("| jobs     |  nodes | profile           | jobs/CPU s | pods/CPU s | bare loop |\n");
  std::printf("|----------|-------:|-------------------|-----------:|-----------:|----------:|\n");
  for (const Mix& mix : mixes()) run_churn(7'500, mix);
  run_churn(802, mixes().front());
  std::printf("\nBurst: 100 gangs of 512 whole-node pods at one instant\n\n");
  std::printf("| profile      |  attempts |      pods |    CPU s | pods/CPU s | cycles/CPU s |\n");
  std::printf("|--------------|----------:|----------:|---------:|-----------:|-------------:|\n");
  for (const char* profile : {"strict_gang", "default", "coscheduling"}) run_burst(profile);
}

}  // namespace
}  // namespace orrery::bench

int main() { orrery::bench::measure_all(); }

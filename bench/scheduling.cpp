// Pods scheduled per second of one core, from the arrival of their jobs to their end, and what a
// large cluster takes in memory.
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "models/cluster.hpp"
#include "sim/config/node.hpp"

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

struct Load {
  const char* name;
  const char* policy;
  const char* yaml;
};

// 100 gangs of 512 whole nodes arrive at once; 14 of them fit at a time.
constexpr const char* kBurst = R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 7500}]}
workload:
  sources:
  - kind: jobs
    jobs: [{name: gang, count: 100, pods: 512, pod: {gpus: 8}, work: 1h}]
run: {until: 12h}
)";
constexpr const char* kChurn = R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 802}]}
workload:
  sources:
  - kind: generator
    arrival_rate: 3600
    jobs_max: 100000
    shape:
      kind: classes
      classes: [{gpus: {kind: fixed, value: 1}, duration: {kind: exponential, mean: 90min}}]
)";
constexpr std::array<Load, 4> kLoads{{{"burst of gangs", "strict_gang", kBurst},
                                      {"burst of gangs", "default", kBurst},
                                      {"burst of gangs", "coscheduling", kBurst},
                                      {"1-GPU churn", "default", kChurn}}};

void run(const Load& load) {
  Diagnostics diagnostics;
  config::Document document = config::load_text(load.yaml, "bench.yaml", diagnostics);
  config::apply_override(document, std::string{"policy.base="} + load.policy, diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  if (!diagnostics.ok()) {
    std::fputs(diagnostics.text().c_str(), stderr);
    return;
  }
  Engine engine;
  const RngStreams rng{1};
  NullRecorder recorder;
  Ground ground{scenario.cluster, scenario.run.seed};
  Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  recorder.start();
  cluster.start();
  const double began = cpu_seconds();
  engine.run(scenario.run.until ? Time{} + *scenario.run.until : Time::max());
  const double took = cpu_seconds() - began;
  const auto& c = cluster.scheduler().counters();
  std::printf("| %-14s | %-12s | %9llu | %9llu | %8.2f | %10.0f | %12.0f |\n", load.name,
              load.policy, static_cast<unsigned long long>(c.attempts),
              static_cast<unsigned long long>(c.pods_scheduled), took,
              static_cast<double>(c.pods_scheduled) / took, static_cast<double>(c.attempts) / took);
  std::fflush(stdout);
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

}  // namespace
}  // namespace orrery

int main() {
  std::printf(
      "| load           | profile      |  attempts |      pods |    CPU s | pods/CPU s | "
      "cycles/CPU s |\n");
  std::printf(
      "|----------------|--------------|----------:|----------:|---------:|-----------:|-----------"
      "--:|\n");
  for (const orrery::Load& load : orrery::kLoads) orrery::run(load);
  orrery::measure_memory();
}

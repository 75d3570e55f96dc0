// bench/placement.cpp -- pods placed per second of one core, for each placement policy, by the
// number of nodes and by the number of waiting jobs.
//
//   bench_placement [PROFILE...]     without names: all profiles
#include "bench/support/placement.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bench/support/curve.hpp"
#include "bench/support/jobs.hpp"
#include "bench/support/world.hpp"

namespace orrery::bench {
namespace {

// Scheduling cycles take no simulated time, so the scheduler keeps up with any load. FGD and its
// baselines examine all nodes, as in the paper on FGD. The profiles of kube-scheduler examine as
// many nodes as the real kube-scheduler.
#define ORRERY_BENCH_NO_COST "cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}"
#define ORRERY_BENCH_ALL_NODES                                                  \
  "{base: empty, percentage_of_nodes_to_score: 100, " ORRERY_BENCH_NO_COST      \
  ", plugins: [{name: PrioritySort}, {name: NodeResourcesFit, scores: false}, " \
  "{name: DefaultDevices, args: {strategy: best_fit}}, {name: "
#define ORRERY_BENCH_GANGS "{base: strict_gang, " ORRERY_BENCH_NO_COST ", plugins: [{name: "
constexpr Profile kProfiles[] = {
    {"default", "{base: default, " ORRERY_BENCH_NO_COST "}"},
    {"strict_gang", "{base: strict_gang, " ORRERY_BENCH_NO_COST "}"},
    {"Random", ORRERY_BENCH_ALL_NODES "Random}]}"},
    {"BestFit", ORRERY_BENCH_ALL_NODES "BestFit}]}"},
    {"DotProduct", ORRERY_BENCH_ALL_NODES "DotProduct}]}"},
    {"GpuPacking", ORRERY_BENCH_ALL_NODES "GpuPacking}]}"},
    {"GpuClustering", ORRERY_BENCH_ALL_NODES "GpuClustering}]}"},
    {"FGD", ORRERY_BENCH_ALL_NODES "FGD}]}", true},
};
// Policies for whole gangs. A leaf switch has 32 nodes, and a block has 8 leaf switches.
constexpr Profile kGangProfiles[] = {
    {"TopologyPlacement", ORRERY_BENCH_GANGS "TopologyPlacement}]}"},
    {"HeliosConsolidate", ORRERY_BENCH_GANGS "HeliosConsolidate}]}"},
    {"SlurmTopologyTree", ORRERY_BENCH_GANGS "SlurmTopologyTree, args: {leaves_per_block: 8}}]}"},
    {"SlurmTopologyBlock", ORRERY_BENCH_GANGS "SlurmTopologyBlock}]}"},
    {"KueueTopology", ORRERY_BENCH_GANGS "KueueTopology, args: {leaves_per_block: 8}}]}"},
    {"VolcanoHyperNode", ORRERY_BENCH_GANGS "VolcanoHyperNode, args: {leaves_per_block: 8}}]}"},
};
#undef ORRERY_BENCH_GANGS
#undef ORRERY_BENCH_ALL_NODES
#undef ORRERY_BENCH_NO_COST

double bare_rate(const Churn& churn) {
  static std::map<std::tuple<int64_t, int64_t>, double> known;
  const auto [found, is_new] = known.try_emplace({churn.nodes, churn.waiting});
  if (is_new) {
    found->second = bare_nodes(bare_jobs(batches_of(churn)), churn.nodes, kGpusPerNode);
  }
  return found->second;
}

void measure_against_nodes(const Profile& profile, const Mix& mix, double seconds_before) {
  Curve curve{profile.name, "nodes", Curve::Per::Job};
  for (const int64_t nodes : {100, 1'000, 10'000, 100'000}) {
    if (curve.is_over()) return;
    const Churn churn{.nodes = nodes, .mix = &mix};
    const Window w = least_window(scenario_of(profile, churn), {.from = Time{} + 2_s,
                                                                .jobs_before = 1'000,
                                                                .jobs = 50'000,
                                                                .seconds = 2,
                                                                .seconds_before = seconds_before});
    curve.add(nodes, static_cast<double>(nodes), w, bare_rate(churn));
  }
}

// Loads that fill all nodes, so that further jobs wait in the scheduler.
constexpr Kind kSmall[] = {{.gpus = 1, .seconds = 3'600}, {.gpus = 2, .seconds = 1'800}};
constexpr Mix kFull{.name = "full", .kinds = kSmall, .load = 1};
constexpr Kind kSmallGangs[] = {{.pods = 4, .gpus = 1, .seconds = 3'600},
                                {.pods = 8, .gpus = 2, .seconds = 1'800}};
constexpr Mix kFullOfGangs{.name = "gangs", .kinds = kSmallGangs, .load = 1};

void measure_against_queue(const Profile& profile, const Mix& mix) {
  Curve curve{profile.name, "waiting", Curve::Per::Job};
  for (const int64_t waiting : {10, 100, 1'000, 10'000, 100'000}) {
    if (curve.is_over()) return;
    const Churn churn{.nodes = 1'000, .mix = &mix, .waiting = waiting, .jobs = 50'000};
    const Window w = least_window(scenario_of(profile, churn),
                                  {.from = Time{} + 2_s, .jobs_before = 100, .jobs = 20'000});
    curve.add(churn.nodes, 0, w, bare_rate(churn));
  }
}

void measure_all(std::span<const std::string_view> names) {
  const auto is_meant = [&](const Profile& profile) {
    return names.empty() || std::ranges::find(names, profile.name) != names.end();
  };
  std::printf("By number of nodes, 40 %% of all GPUs in use, jobs of 1, 2 and 4 GPUs:\n\n");
  Curve::print_head("bare loop");
  for (const Profile& profile : kProfiles) {
    if (is_meant(profile)) measure_against_nodes(profile, mixes()[1], 60);
  }
  std::printf("\nBy number of waiting pods, 1,000 nodes with all GPUs in use:\n\n");
  Curve::print_head("bare loop");
  for (const Profile& profile : kProfiles) {
    if (is_meant(profile)) measure_against_queue(profile, kFull);
  }
  std::printf("\nGangs of 4 pods with one GPU, and of 8 pods with two, are 3 of 10 jobs:\n\n");
  Curve::print_head("bare loop");
  for (const Profile& profile : kGangProfiles) {
    if (is_meant(profile)) measure_against_nodes(profile, mixes()[2], 20);
  }
  std::printf("\nBy number of waiting gangs, 1,000 nodes with all GPUs in use:\n\n");
  Curve::print_head("bare loop");
  for (const Profile& profile : kGangProfiles) {
    if (is_meant(profile)) measure_against_queue(profile, kFullOfGangs);
  }
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  orrery::bench::measure_all(std::vector<std::string_view>{argv + 1, argv + argc});
}

// bench/fgd.cpp -- one run of FGD's experiment on Alibaba's openb list, as in
// scenarios/fgd-openb.yaml, compared with a bare loop over the same pods and nodes.
//
//   bench_fgd     the trace must be where the scenario looks for it
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/world.hpp"
#include "models/workload/workload_params.hpp"

namespace orrery::bench {
namespace {

constexpr const char* kScenario = ORRERY_SOURCE_DIR "/scenarios/fgd-openb.yaml";

config::Document document_of(const std::string& policy, Diagnostics& diagnostics) {
  config::Document document = config::load_file(kScenario, diagnostics);
  config::apply_override(document, "policy.plugins[4].name=" + policy, diagnostics);
  if (policy == "Random") {
    config::apply_override(document, "policy.plugins[3].args.strategy=random", diagnostics);
  }
  return document;
}

struct Run {
  double build = 1e9, run = 1e9;  // CPU seconds, the least of three runs
  uint64_t pods = 0, placed = 0;
};

Run run_policy(const std::string& policy) {
  Run best;
  for (int round = 0; round < 3; ++round) {
    Diagnostics diagnostics;
    const config::Document document = document_of(policy, diagnostics);
    const double began = cpu_seconds();
    World world{document, diagnostics};
    const double built = cpu_seconds();
    world.start();
    while (world.advance(1'000'000)) {
    }
    best.build = std::min(best.build, built - began);
    best.run = std::min(best.run, cpu_seconds() - built);
    best.pods = world.cluster().controller().counters().submitted;
    best.placed = world.cluster().scheduler().counters().pods_scheduled;
  }
  return best;
}

// Places each pod in one pass over all nodes. Of the nodes that have what the pod requests, the pod
// gets the one with the smallest sum of free milli-CPUs and free milli-GPUs.
class BareLoop {
 public:
  explicit BareLoop(const ClusterState& cluster) : cluster_{cluster} {
    for (uint32_t n = 0; n < cluster.nodes(); ++n) {
      Node node{.cpu = cluster.free({n}, Resource::Cpu),
                .memory = cluster.free({n}, Resource::Memory)};
      for (uint32_t g = 0; g < cluster.gpus({n}); ++g) node.left[g] = kMilli;
      nodes_.push_back(node);
    }
  }
  bool place(const PodSpec& pod) {
    const NodeSet* const allowed = allowed_for(pod);
    size_t best = nodes_.size();
    int64_t least = INT64_MAX;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (allowed != nullptr && !allowed->contains({static_cast<uint32_t>(n)})) continue;
      if (node.cpu < pod.cpu_milli || node.memory < pod.memory_bytes) continue;
      int64_t left = node.cpu;
      int32_t enough = 0;
      for (const int32_t gpu : node.left) {
        enough += gpu >= pod.gpu_milli ? 1 : 0;
        left += gpu;
      }
      if (enough < pod.gpus || left >= least) continue;
      best = n;
      least = left;
    }
    if (best == nodes_.size()) return false;
    take(nodes_[best], pod);
    return true;
  }

 private:
  struct Node {
    int64_t cpu = 0, memory = 0;
    std::array<int32_t, 8> left{};
  };
  static void take(Node& node, const PodSpec& pod) {
    node.cpu -= pod.cpu_milli;
    node.memory -= pod.memory_bytes;
    int32_t missing = pod.gpus;
    for (int32_t& gpu : node.left) {
      if (missing == 0 || gpu < pod.gpu_milli) continue;
      gpu -= pod.gpu_milli;
      --missing;
    }
  }
  // Returns the nodes that the pod accepts, or null if the pod accepts all nodes. The result is
  // cached by the set of GPU models that the pod accepts, because there are few such sets.
  const NodeSet* allowed_for(const PodSpec& pod) {
    if (pod.required_terms.empty()) return nullptr;
    std::string key;
    for (const SelectorTerm& term : pod.required_terms) {
      for (const Requirement& requirement : term.all_of) {
        for (const std::string& value : requirement.values) key += value + "|";
      }
    }
    const auto [found, is_new] = allowed_.try_emplace(key, NodeSet{nodes_.size()});
    if (is_new) {
      for (const SelectorTerm& term : pod.required_terms) {
        found->second |= cluster_.matching(term);
      }
    }
    return &found->second;
  }

  const ClusterState& cluster_;
  std::vector<Node> nodes_;
  std::map<std::string, NodeSet> allowed_;
};

struct Bare {
  double seconds = 1e9;
  uint64_t placed = 0;
};
Bare run_bare() {
  Diagnostics diagnostics;
  const World world{document_of("FGD", diagnostics), diagnostics};
  const ClusterState& cluster = world.cluster().state();
  std::vector<PodSpec> pods;
  for (auto& source :
       make_job_sources(world.scenario.workload, RngStreams{1}, cluster.gpus_total() * kMilli)) {
    for (; source->peek() != nullptr; source->pop()) {
      pods.push_back(source->peek()->gangs.front().roles.front().spec);
    }
  }
  Bare bare;
  for (int round = 0; round < 3; ++round) {
    const double began = cpu_seconds();
    BareLoop loop{cluster};
    bare.placed = 0;
    for (const PodSpec& pod : pods) bare.placed += loop.place(pod) ? 1 : 0;
    bare.seconds = std::min(bare.seconds, cpu_seconds() - began);
  }
  return bare;
}

void measure_all() {
  const Bare bare = run_bare();
  std::printf("Bare loop: %.3f CPU s, %llu pods placed\n\n", bare.seconds,
              static_cast<unsigned long long>(bare.placed));
  std::printf(
      "| policy        |   pods | placed | build CPU s | run CPU s | pods/CPU s | bare |\n");
  std::printf(
      "|---------------|-------:|-------:|------------:|----------:|-----------:|-----:|\n");
  double sum = 0;
  for (const char* policy :
       {"FGD", "BestFit", "DotProduct", "GpuPacking", "GpuClustering", "Random"}) {
    const Run run = run_policy(policy);
    sum += run.build + run.run;
    std::printf("| %-13s | %6llu | %6llu | %11.3f | %9.3f | %10.0f | %4.1f |\n", policy,
                static_cast<unsigned long long>(run.pods),
                static_cast<unsigned long long>(run.placed), run.build, run.run,
                static_cast<double>(run.pods) / run.run, run.run / bare.seconds);
    std::fflush(stdout);
  }
  std::printf("\nThe paper's grid, 1,020 runs, would take %.1f minutes on two cores\n",
              sum / 6 * 1020 / 2 / 60);
}

}  // namespace
}  // namespace orrery::bench

int main() {
  if (!std::filesystem::exists(ORRERY_SOURCE_DIR "/../shared/traces/alibaba-gpu-v2023-openb")) {
    std::printf("bench_fgd: no trace beside the project\n");
    return 0;
  }
  orrery::bench::measure_all();
}

#include "bench/support/placement.hpp"

#include <array>

namespace orrery::bench {
namespace {

constexpr std::array<Kind, 3> kSingle = {
    {{.gpus = 1, .seconds = 3'600}, {.gpus = 1, .seconds = 7'200}, {.gpus = 1, .seconds = 5'400}}};
constexpr std::array<Kind, 3> kMixed = {{{.share = 7, .gpus = 1, .seconds = 3'600},
                                         {.share = 2, .gpus = 2, .seconds = 7'200},
                                         {.share = 1, .gpus = 4, .seconds = 5'400}}};
constexpr std::array<Kind, 3> kGangs = {{{.share = 7, .gpus = 1, .seconds = 3'600},
                                         {.share = 2, .pods = 4, .gpus = 1, .seconds = 7'200},
                                         {.share = 1, .pods = 8, .gpus = 2, .seconds = 5'400}}};
constexpr std::array<Mix, 3> kMixes = {{{.name = "1 GPU", .kinds = kSingle, .load = 0.8},
                                        {.name = "1-4 GPUs", .kinds = kMixed, .load = 0.4},
                                        {.name = "gangs", .kinds = kGangs, .load = 0.4}}};

}  // namespace

std::span<const Mix> mixes() { return kMixes; }

std::vector<Batch> batches_of(const Churn& churn) {
  return batches_of(Work{.kinds = churn.mix->kinds,
                         .capacity = churn.nodes * kGpusPerNode,
                         .load = churn.mix->load,
                         .waiting = churn.waiting,
                         .jobs = churn.jobs});
}

std::string scenario_of(const Profile& profile, const Churn& churn) {
  return scenario_of(profile, churn.nodes, batches_of(churn));
}

std::string scenario_of(const Profile& profile, int64_t nodes, std::span<const Batch> batches) {
  std::string yaml = "cluster: {pools: [{name: n, machine: dgx-a100, count: ";
  yaml += std::to_string(nodes) + "}]}\n";
  yaml += workload_of(batches);
  if (profile.has_typical_pods) yaml += "  typical_pods: {popularity: 95, jobs_max: 1000}\n";
  yaml += "policy: ";
  yaml += profile.yaml;
  return yaml + "\nrecord: {pods: false, timeline: {interval: 24h, teams_interval: 0s}}\n";
}

}  // namespace orrery::bench

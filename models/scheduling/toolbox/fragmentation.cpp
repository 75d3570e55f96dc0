#include "models/scheduling/toolbox/fragmentation.hpp"

#include <algorithm>
#include <bit>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr size_t kIdleRanks = kGpusPerNodeMax + 1;

void sort_and_thin(std::vector<int64_t>& values) {
  std::ranges::sort(values);
  const auto [first, last] = std::ranges::unique(values);
  values.erase(first, last);
}

}  // namespace

Fragmentation::Fragmentation(const ClusterState& cluster, std::span<const TypicalPod> pods)
    : cluster_{cluster} {
  ORRERY_CHECK(!pods.empty(), "fragmentation is measured by typical pods");
  std::vector<int64_t> millis;
  for (const TypicalPod& pod : pods) {
    weight_ += pod.weight;
    if (pod.gpus > 0) cpu_steps_.push_back(pod.cpu_milli);
    if (pod.gpus == 1) millis.push_back(pod.gpu_milli);
  }
  sort_and_thin(cpu_steps_);
  sort_and_thin(millis);
  milli_ranks_ = millis.size() + 1;
  for (size_t left = 0; left < milli_rank_.size(); ++left) {
    const auto above = std::ranges::upper_bound(millis, static_cast<int64_t>(left));
    milli_rank_[left] = static_cast<uint16_t>(above - millis.begin());
  }
  std::vector<NodeSet> accepting;
  for (const TypicalPod& pod : pods) {
    NodeSet nodes{cluster.nodes()};
    if (pod.required_terms.empty()) nodes.fill();
    for (const SelectorTerm& term : pod.required_terms) nodes |= cluster.matching(term);
    accepting.push_back(std::move(nodes));
  }
  kind_of_.resize(cluster.nodes());
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    Kind kind;
    for (const NodeSet& nodes : accepting) kind.accepts.push_back(nodes.contains({n}));
    auto known = std::ranges::find(kinds_, kind.accepts, &Kind::accepts);
    if (known == kinds_.end()) {
      fill(kind, pods);
      known = kinds_.insert(kinds_.end(), std::move(kind));
    }
    kind_of_[n] = static_cast<uint32_t>(known - kinds_.begin());
  }
}

void Fragmentation::fill(Kind& kind, std::span<const TypicalPod> pods) const {
  const size_t cpu_ranks = cpu_steps_.size() + 1;
  kind.single.resize(cpu_ranks * milli_ranks_);
  kind.several.resize(cpu_ranks * kIdleRanks);
  for (size_t p = 0; p < pods.size(); ++p) {
    const TypicalPod& pod = pods[p];
    if (!kind.accepts[p] || pod.gpus == 0) continue;
    const auto step = std::ranges::lower_bound(cpu_steps_, pod.cpu_milli) - cpu_steps_.begin();
    for (auto cpu = static_cast<size_t>(step) + 1; cpu < cpu_ranks; ++cpu) {
      if (pod.gpus == 1) {
        for (size_t m = milli_rank_[static_cast<size_t>(pod.gpu_milli)]; m < milli_ranks_; ++m) {
          kind.single[cpu * milli_ranks_ + m] += pod.weight;
        }
      }
      for (auto idle = static_cast<size_t>(pod.gpus); pod.gpus > 1 && idle < kIdleRanks; ++idle) {
        kind.several[cpu * kIdleRanks + idle] += pod.weight;
      }
    }
  }
}

Fragmentation::Row Fragmentation::row(uint32_t kind, int64_t cpu_left) const {
  const auto above = std::ranges::upper_bound(cpu_steps_, cpu_left);
  const auto rank = static_cast<size_t>(above - cpu_steps_.begin());
  return {&kinds_[kind].single[rank * milli_ranks_], &kinds_[kind].several[rank * kIdleRanks]};
}

Fragmentation::Node Fragmentation::node(NodeId id) const {
  Node node{.kind = kind_of_[id.index],
            .cpu_left = cluster_.free(id, Resource::Cpu),
            .gpus = cluster_.gpus(id)};
  for (uint32_t g = 0; g < node.gpus; ++g) {
    node.left[g] = static_cast<int16_t>(cluster_.gpu_left_milli(id, g));
  }
  return node;
}

Fragmentation::Sums Fragmentation::sums(const Row& row, const Node& node) const {
  Sums sums;
  for (uint32_t g = 0; g < node.gpus; ++g) {
    sums.left += node.left[g];
    sums.usable += usable(row, node.left[g]);
    sums.idle += node.left[g] == kMilli ? 1 : 0;
  }
  return sums;
}

int64_t Fragmentation::of(const Node& node) const {
  const Row r = row(node.kind, node.cpu_left);
  return measure(r, sums(r, node));
}

std::array<int64_t, kGpusPerNodeMax> Fragmentation::relief_by_share(const Node& before,
                                                                    int64_t cpu_milli,
                                                                    int32_t gpu_milli) const {
  std::array<int64_t, kGpusPerNodeMax> reliefs{};
  const int64_t measured = of(before);
  const Row r = row(before.kind, before.cpu_left - cpu_milli);
  const Sums all = sums(r, before);
  for (uint32_t g = 0; g < before.gpus; ++g) {
    const int64_t left = before.left[g];
    if (left < gpu_milli) continue;
    Sums after = all;
    after.left -= gpu_milli;
    after.usable += usable(r, left - gpu_milli) - usable(r, left);
    after.idle -= left == kMilli ? 1 : 0;
    reliefs[g] = measured - measure(r, after);
  }
  return reliefs;
}

int64_t Fragmentation::relief_by_whole(const Node& before, int64_t cpu_milli, int32_t gpus) const {
  const Row r = row(before.kind, before.cpu_left - cpu_milli);
  Sums after = sums(r, before);
  after.left -= gpus * kMilli;
  after.usable -= gpus * usable(r, kMilli);
  after.idle -= gpus;
  return of(before) - measure(r, after);
}

}  // namespace orrery

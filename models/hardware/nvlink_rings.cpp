#include <algorithm>
#include <bit>
#include <vector>

#include "models/hardware/machine_topology.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Packs link-disjoint Hamiltonian cycles by exhaustive search: lists every cycle of the GPUs once,
// then tries all multisets of cycles in list order. A GPU with d links is on at most d/2 cycles,
// which bounds the depth of the search. Nodes with direct links have so few cycles that the search
// is instant. Example: four GPUs with two links between each pair have the cycles 0123, 0132 and
// 0213. These three cycles together use every link, so there are 3 rings.
class RingPacker {
 public:
  RingPacker(const Machine& machine, const std::vector<size_t>& gpus) : size_{gpus.size()} {
    for (size_t i = 0; i < size_; ++i) {
      int degree = 0;
      for (size_t j = 0; j < size_; ++j) {
        left_[i][j] = machine.nvlinks[gpus[i]][gpus[j]];
        degree += left_[i][j];
      }
      bound_ = i == 0 ? degree / 2 : std::min(bound_, degree / 2);
    }
    path_.push_back(0);
    list_cycles();
  }

  int rings() {
    best_ = 0;
    pack(0, 0);
    return best_;
  }

 private:
  using Cycle = std::vector<size_t>;  // GPUs in ring order, from the first one

  void list_cycles() {
    const size_t last = path_.back();
    if (path_.size() == size_) {
      // Each cycle is found in both directions. The direction whose second GPU is lower than its
      // last GPU is kept.
      if (left_[last][0] > 0 && path_[1] < last) cycles_.push_back(path_);
      return;
    }
    for (size_t next = 1; next < size_; ++next) {
      if (left_[last][next] == 0 || std::ranges::find(path_, next) != path_.end()) continue;
      path_.push_back(next);
      list_cycles();
      path_.pop_back();
    }
  }

  void pack(size_t first, int count) {
    best_ = std::max(best_, count);
    for (size_t c = first; c < cycles_.size() && best_ < bound_; ++c) {
      if (!fits(cycles_[c])) continue;
      use(cycles_[c], -1);
      pack(c, count + 1);
      use(cycles_[c], +1);
    }
  }

  bool fits(const Cycle& cycle) const {
    for (size_t i = 0; i < size_; ++i) {
      if (left_[cycle[i]][cycle[(i + 1) % size_]] == 0) return false;
    }
    return true;
  }

  void use(const Cycle& cycle, int change) {
    for (size_t i = 0; i < size_; ++i) {
      const size_t a = cycle[i], b = cycle[(i + 1) % size_];
      left_[a][b] = static_cast<int8_t>(left_[a][b] + change);
      left_[b][a] = left_[a][b];
    }
  }

  size_t size_;
  LinkMatrix left_{};
  int bound_ = 0, best_ = 0;
  Cycle path_;
  std::vector<Cycle> cycles_;
};

std::vector<size_t> members(const Machine& machine, GpuMask gpus) {
  ORRERY_CHECK((gpus & ~machine.all_gpus()) == 0, "a mask names only GPUs the machine has");
  std::vector<size_t> list;
  for (size_t g = 0; g < machine.gpu_places.size(); ++g) {
    if ((gpus >> g & 1U) != 0) list.push_back(g);
  }
  return list;
}

}  // namespace

int nvlink_rings(const Machine& machine, GpuMask gpus) {
  const std::vector<size_t> list = members(machine, gpus);
  if (list.size() < 2) return 0;
  if (machine.nvswitches > 0) return machine.gpu.nvlinks;
  if (list.size() == 2) return machine.nvlinks[list[0]][list[1]];
  return RingPacker{machine, list}.rings();
}

Bandwidth nvlink_ring_rate(const Machine& machine, GpuMask gpus) {
  const bool is_two_way = machine.nvswitches == 0 && std::popcount(gpus) > 2;
  const int64_t ways = nvlink_rings(machine, gpus) * (is_two_way ? 2 : 1);
  return {ways * machine.gpu.nvlink_nccl.bits_per_s};
}

Bandwidth ring_rate(const Machine& machine, GpuMask gpus) {
  const std::vector<size_t> list = members(machine, gpus);
  ORRERY_CHECK(list.size() >= 2, "a ring has two GPUs or more");
  if (const Bandwidth rate = nvlink_ring_rate(machine, gpus); rate.bits_per_s > 0) return rate;
  Bandwidth slowest = pcie_rate(machine);
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t next = list[(i + 1) % list.size()];
    const Bandwidth hop =
        pcie_path_rate(machine, machine.gpu_places[list[i]], machine.gpu_places[next]);
    slowest = std::min(slowest, hop);
  }
  return slowest;
}

}  // namespace orrery

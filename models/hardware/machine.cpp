#include "models/hardware/machine.hpp"

#include "sim/core/check.hpp"

namespace orrery {

LinkMatrix cube_mesh(int gpus) {
  // The graph dump of NCCL issue 671 confirms the first two rows. Every row sums up to the six
  // links of a V100.
  static constexpr int8_t kLinks[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0},
                                          {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
                                          {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                                          {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  ORRERY_CHECK(gpus >= 0 && gpus <= 8, "the cube mesh joins eight GPUs");
  LinkMatrix matrix{};
  for (size_t i = 0; i < static_cast<size_t>(gpus); ++i) {
    for (size_t j = 0; j < static_cast<size_t>(gpus); ++j) matrix[i][j] = kLinks[i][j];
  }
  return matrix;
}

Bandwidth pcie_rate(const Machine& machine) {
  ORRERY_CHECK(machine.pcie_generation >= 3 && machine.pcie_generation <= 6,
               "NCCL's constants start at PCIe 3");
  // 12 GB/s for PCIe 3, doubled per generation.
  return {96'000'000'000LL << (machine.pcie_generation - 3)};
}

Bandwidth nic_rate(const Nic& nic) { return {nic.bandwidth.bits_per_s / 100 * 96}; }

}  // namespace orrery

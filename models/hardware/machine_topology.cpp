#include "models/hardware/machine_topology.hpp"

#include <algorithm>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {
namespace {

const DevicePlace& gpu_place(const Machine& machine, int gpu) {
  ORRERY_CHECK(gpu >= 0 && gpu < machine.gpus(), "the machine has this GPU");
  return machine.gpu_places[static_cast<size_t>(gpu)];
}

const DevicePlace& nic_place(const Machine& machine, int nic) {
  ORRERY_CHECK(nic >= 0 && static_cast<size_t>(nic) < machine.nics.size(),
               "the machine has this NIC");
  return machine.nics[static_cast<size_t>(nic)].place;
}

int nvlinks_between(const Machine& machine, int gpu_a, int gpu_b) {
  return machine.nvlinks[static_cast<size_t>(gpu_a)][static_cast<size_t>(gpu_b)];
}

// The compute NICs at the smallest distance from a GPU, in NIC order.
std::vector<int> nearest_nics(const Machine& machine, int gpu) {
  std::vector<int> nearest;
  Distance best = Distance::Sys;
  for (int n = 0; n < static_cast<int>(machine.nics.size()); ++n) {
    if (machine.nics[static_cast<size_t>(n)].role != NicRole::Compute) continue;
    const Distance distance = gpu_nic_distance(machine, gpu, n);
    if (distance > best) continue;
    if (distance < best) nearest.clear();
    best = distance;
    nearest.push_back(n);
  }
  return nearest;
}

constexpr size_t kColumn = 6;  // wide enough for "GPU15", "NIC15", "NODE"

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

constexpr std::string_view kLegend =
    "\nLegend:\n"
    "  X     itself\n"
    "  NV#   # NVLinks bonded together\n"
    "  PIX   at most one PCIe bridge\n"
    "  PXB   several PCIe bridges, no host bridge\n"
    "  PHB   a PCIe host bridge, that is, the CPU\n"
    "  NODE  several host bridges of one NUMA node\n"
    "  SYS   the interconnect between NUMA nodes\n";

std::string label(std::string_view kind, int index) {
  return std::string{kind} + std::to_string(index);
}

}  // namespace

Distance pcie_distance(const DevicePlace& a, const DevicePlace& b) {
  if (a.numa != b.numa) return Distance::Sys;
  if (a.host_bridge != b.host_bridge) return Distance::Node;
  if (a.root_port != b.root_port) return Distance::Phb;
  const bool is_one_switch =
      a.pcie_switch == b.pcie_switch && a.pcie_switch != DevicePlace::kNoSwitch;
  return is_one_switch ? Distance::Pix : Distance::Pxb;
}

Distance gpu_distance(const Machine& machine, int gpu_a, int gpu_b) {
  const DevicePlace& a = gpu_place(machine, gpu_a);
  const DevicePlace& b = gpu_place(machine, gpu_b);
  if (gpu_a == gpu_b) return Distance::Same;
  return nvlinks_between(machine, gpu_a, gpu_b) > 0 ? Distance::NvLink : pcie_distance(a, b);
}

Distance gpu_nic_distance(const Machine& machine, int gpu, int nic) {
  return pcie_distance(gpu_place(machine, gpu), nic_place(machine, nic));
}

Distance nic_distance(const Machine& machine, int nic_a, int nic_b) {
  const Distance distance = pcie_distance(nic_place(machine, nic_a), nic_place(machine, nic_b));
  return nic_a == nic_b ? Distance::Same : distance;
}

int nearest_nic(const Machine& machine, int gpu) {
  const std::vector<int> nearest = nearest_nics(machine, gpu);
  if (nearest.empty()) return -1;
  size_t turn = 0;
  for (int other = 0; other < gpu; ++other) {
    if (nearest_nics(machine, other) == nearest) ++turn;
  }
  return nearest[turn % nearest.size()];
}

Duration path_latency(Distance distance) {
  switch (distance) {
    case Distance::Same:
      return {};
    case Distance::NvLink:
      return 1000_ns;
    case Distance::Pix:
      return 700_ns;
    case Distance::Pxb:
      return 1000_ns;
    case Distance::Phb:
      return 1300_ns;
    case Distance::Node:
      return 1600_ns;
    case Distance::Sys:
      return 2200_ns;
  }
  return {};
}

Bandwidth pcie_path_rate(const Machine& machine, const DevicePlace& a, const DevicePlace& b) {
  const Bandwidth pcie = pcie_rate(machine);
  return a.socket == b.socket ? pcie : std::min(pcie, machine.cpu.interconnect_nccl);
}

Bandwidth gpu_path_rate(const Machine& machine, int gpu_a, int gpu_b) {
  const DevicePlace& a = gpu_place(machine, gpu_a);
  const DevicePlace& b = gpu_place(machine, gpu_b);
  const int links = nvlinks_between(machine, gpu_a, gpu_b);
  if (links == 0) return pcie_path_rate(machine, a, b);
  return {links * machine.gpu.nvlink_nccl.bits_per_s};
}

std::string cpu_affinity(const Cpu& cpu, int numa) {
  const int share = cpu.cores() / cpu.numa_nodes;
  std::string text;
  for (int sibling = 0; sibling < cpu.threads_per_core; ++sibling) {
    const int first = numa * share + sibling * cpu.cores();
    if (sibling > 0) text += ',';
    text += std::to_string(first);
    if (share > 1) text.append("-").append(std::to_string(first + share - 1));
  }
  return text;
}

std::string topology_text(const Machine& machine) {
  const int gpus = machine.gpus();
  const int nics = static_cast<int>(machine.nics.size());
  const auto name = [&](int d) { return d < gpus ? label("GPU", d) : label("NIC", d - gpus); };
  const auto cell = [&](int a, int b) {
    if (a < gpus && b < gpus) {
      const Distance distance = gpu_distance(machine, a, b);
      if (distance == Distance::NvLink) return label("NV", nvlinks_between(machine, a, b));
      return std::string{name_of(distance)};
    }
    if (a >= gpus && b >= gpus)
      return std::string{name_of(nic_distance(machine, a - gpus, b - gpus))};
    return std::string{name_of(gpu_nic_distance(machine, std::min(a, b), std::max(a, b) - gpus))};
  };
  std::string text = padded("", kColumn);
  for (int d = 0; d < gpus + nics; ++d) text += padded(name(d), kColumn);
  text = trimmed(text + padded("CPU affinity", 18) + "NUMA");
  for (int row = 0; row < gpus + nics; ++row) {
    std::string line = padded(name(row), kColumn);
    for (int d = 0; d < gpus + nics; ++d) line += padded(cell(row, d), kColumn);
    const DevicePlace& place =
        row < gpus ? gpu_place(machine, row) : nic_place(machine, row - gpus);
    text += trimmed(line + padded(cpu_affinity(machine.cpu, place.numa), 18) +
                    std::to_string(place.numa));
  }
  return text + std::string{kLegend};
}

}  // namespace orrery

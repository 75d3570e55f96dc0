// models/hardware/machine_topology.hpp -- how far apart the devices of a node are, and its rings.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

// The strongest boundary on the path between two devices, nearest first, in nvidia-smi's words.
// How many NVLinks join two GPUs is in Machine::nvlinks.
enum class Distance : uint8_t { Same, NvLink, Pix, Pxb, Phb, Node, Sys };
constexpr std::array<std::string_view, 7> enum_names(Distance) {
  return {"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS"};
}

Distance pcie_distance(const DevicePlace& a, const DevicePlace& b);  // ignores NVLink
Distance gpu_distance(const Machine& machine, int gpu_a, int gpu_b);
Distance gpu_nic_distance(const Machine& machine, int gpu, int nic);
Distance nic_distance(const Machine& machine, int nic_a, int nic_b);

// The compute NIC nearest to a GPU. Equally near ones are dealt out in turn to the GPUs that share
// them, so two GPUs on one switch with two NICs get one each. -1: the machine has no compute NIC.
int nearest_nic(const Machine& machine, int gpu);
// One-way latency of a path; estimates, except that the order of the classes is physical.
Duration path_latency(Distance distance);

// How many rings through exactly these GPUs run at once over NVLink without sharing a link.
// Straight links: the largest number of link-disjoint Hamiltonian cycles, found exactly; two GPUs:
// the links between them. NVSwitch: the links of one GPU. Fewer than two GPUs: 0.
int nvlink_rings(const Machine& machine, GpuMask gpus);
// All-reduce bus bandwidth of these rings: a cycle of straight links is driven both ways round, and
// every way moves one link's NCCL rate. Zero: no ring, so the GPUs talk over PCIe.
Bandwidth nvlink_ring_rate(const Machine& machine, GpuMask gpus);
// What one device sends another at, as NCCL counts it: PCIe and, between sockets, the interconnect.
Bandwidth pcie_path_rate(const Machine& machine, const DevicePlace& a, const DevicePlace& b);
// The same for two GPUs, over their NVLinks if they have any.
Bandwidth gpu_path_rate(const Machine& machine, int gpu_a, int gpu_b);
// The NVLink rings' rate, or else that of one PCIe ring in GPU order. Must be two GPUs or more.
Bandwidth ring_rate(const Machine& machine, GpuMask gpus);

// The NUMA node's cores as Linux writes them: "48-63,176-191".
std::string cpu_affinity(const Cpu& cpu, int numa);
// The matrix `nvidia-smi topo -m` prints, with its legend.
std::string topology_text(const Machine& machine);

}  // namespace orrery

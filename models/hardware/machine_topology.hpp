// models/hardware/machine_topology.hpp -- distances, rates and latencies between the devices of a
// node, and its NVLink rings.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

// Distance of two devices in the terms of nvidia-smi: the widest boundary on their path. The values
// are in order from near to far. Machine::nvlinks has the number of NVLinks between two GPUs.
enum class Distance : uint8_t { Same, NvLink, Pix, Pxb, Phb, Node, Sys };
constexpr std::array<std::string_view, 7> enum_names(Distance) {
  return {"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS"};
}

Distance pcie_distance(const DevicePlace& a, const DevicePlace& b);  // ignores NVLink
Distance gpu_distance(const Machine& machine, int gpu_a, int gpu_b);
Distance gpu_nic_distance(const Machine& machine, int gpu, int nic);
Distance nic_distance(const Machine& machine, int nic_a, int nic_b);

// The compute NIC nearest to a GPU. Equally near NICs go in turn to the GPUs that share them, so
// two GPUs on one switch with two NICs get one NIC each. Returns -1 if the machine has no compute
// NIC.
int nearest_nic(const Machine& machine, int gpu);
// One-way latency of a path. The values are estimates; only their order matters.
Duration path_latency(Distance distance);

// How many rings through exactly these GPUs can run at once over NVLink without sharing a link.
// Direct links: the largest number of link-disjoint Hamiltonian cycles, found exactly; for two
// GPUs, the number of links between them. NVSwitch: the number of links of one GPU. Fewer than two
// GPUs: 0.
int nvlink_rings(const Machine& machine, GpuMask gpus);
// Bus bandwidth of an all-reduce over all rings that nvlink_rings() counts. Each ring adds the NCCL
// rate of one link. A ring of three or more GPUs over direct links adds this rate twice, once for
// each direction. Returns 0 if there is no ring; the GPUs then communicate over PCIe.
Bandwidth nvlink_ring_rate(const Machine& machine, GpuMask gpus);
// Rate between two devices in NCCL's topology model: the PCIe rate. Between sockets, it is at most
// the rate of the CPU interconnect.
Bandwidth pcie_path_rate(const Machine& machine, const DevicePlace& a, const DevicePlace& b);
// Rate between two GPUs: that of the NVLinks between them or, without NVLinks, pcie_path_rate().
Bandwidth gpu_path_rate(const Machine& machine, int gpu_a, int gpu_b);
// The rate of all NVLink rings or, without such rings, of one PCIe ring in GPU order. Needs two
// GPUs or more.
Bandwidth ring_rate(const Machine& machine, GpuMask gpus);

// The logical CPUs of a NUMA node in the notation of Linux: "48-63,176-191".
std::string cpu_affinity(const Cpu& cpu, int numa);
// The matrix of `nvidia-smi topo -m`, with its legend.
std::string topology_text(const Machine& machine);

}  // namespace orrery

// models/hardware/machine.hpp -- one kind of node: its devices, their topology and its power.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/gpu_model.hpp"
#include "models/hardware/resources.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Position of a device in the node. Each switch, port, bridge, NUMA node and socket has an id that
// is unique among those of its kind in the node. So devices with the same `pcie_switch` are below
// the same switch.
struct DevicePlace {
  int16_t pcie_switch = kNoSwitch;  // the PCIe switch above the device
  int16_t root_port = 0;            // the port of the host bridge above the device
  int16_t host_bridge = 0;
  int16_t numa = 0;
  int16_t socket = 0;
  static constexpr int16_t kNoSwitch = -1;  // directly at the root port
  bool operator==(const DevicePlace&) const = default;
};

enum class NicRole : uint8_t { Compute, Storage };
constexpr std::array<std::string_view, 2> enum_names(NicRole) { return {"compute", "storage"}; }

struct Nic {
  DevicePlace place{};
  Bandwidth bandwidth{};
  NicRole role = NicRole::Compute;
};

enum class CpuVendor : uint8_t { Intel, Amd };
constexpr std::array<std::string_view, 2> enum_names(CpuVendor) { return {"intel", "amd"}; }

// The usual core numbering of Linux: NUMA node k has the k-th equal share of the cores, and the SMT
// siblings of core c are c + cores(), c + 2 * cores(), ...
struct Cpu {
  int32_t sockets = 1;
  int32_t numa_nodes = 1;
  int32_t cores_per_socket = 1;
  int32_t threads_per_core = 1;
  Bandwidth interconnect_nccl{};  // rate between sockets in NCCL's topology model
  CpuVendor vendor = CpuVendor::Intel;
  int32_t cores() const { return sockets * cores_per_socket; }
  int32_t threads() const { return cores() * threads_per_core; }
};

// Groups of a machine's values. Machine::sources names a source for each group.
enum class MachineFact : uint8_t { Gpus, NvLinks, Pcie, Nics, Cpu, Memory, HostPower };
constexpr size_t kMachineFacts = 7;
constexpr std::array<std::string_view, kMachineFacts> enum_names(MachineFact) {
  return {"gpus", "nvlinks", "pcie", "nics", "cpu", "memory", "host_power"};
}

using LinkMatrix = std::array<std::array<int8_t, kGpusPerNodeMax>, kGpusPerNodeMax>;

struct Machine {
  std::string name;
  std::string doc;
  GpuModel gpu;                         // meaningless without GPUs
  std::vector<DevicePlace> gpu_places;  // one per GPU
  LinkMatrix nvlinks{};                 // links between two GPUs; with NVSwitch: links per GPU
  int32_t nvswitches = 0;               // 0: NVLinks, if any, are direct
  int32_t pcie_generation = 3;
  std::vector<Nic> nics;
  Cpu cpu;
  Bytes memory;
  int32_t host_idle_watts = 0;  // the node without its GPUs
  int32_t host_busy_watts = 0;  // the node without its GPUs, in training
  // Indexed by MachineFact; "estimate" and "assumed" mark our own values.
  std::array<std::string_view, kMachineFacts> sources{};

  int32_t gpus() const { return static_cast<int32_t>(gpu_places.size()); }
  GpuMask all_gpus() const { return static_cast<GpuMask>((1U << gpu_places.size()) - 1U); }
  std::string_view source(MachineFact fact) const { return sources[static_cast<size_t>(fact)]; }
  int32_t idle_watts() const { return host_idle_watts + gpus() * gpu.idle_watts; }
  int32_t training_watts() const { return host_busy_watts + gpus() * gpu.training_watts; }
};

// NVLinks among the first `gpus` GPUs of the hybrid cube mesh of a DGX-1 with V100.
LinkMatrix cube_mesh(int gpus);

// Rates of NCCL's topology model for a PCIe x16 slot (12, 24, 48, 96 GB/s for generations 3 to 6)
// and for a NIC (12 GB/s per 100 Gb/s).
Bandwidth pcie_rate(const Machine& machine);
Bandwidth nic_rate(const Nic& nic);

}  // namespace orrery

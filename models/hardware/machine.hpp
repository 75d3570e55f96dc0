// models/hardware/machine.hpp -- one kind of node: its devices, how they are joined, its power.
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

// Where a device hangs in the node. Ids are unique in the node, so equal ids mean the same part.
struct DevicePlace {
  int16_t pcie_switch = kNoSwitch;  // the bridge the device hangs on
  int16_t root_port = 0;            // everything below one port of a host bridge
  int16_t host_bridge = 0;
  int16_t numa = 0;
  int16_t socket = 0;
  static constexpr int16_t kNoSwitch = -1;  // straight at the root port
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

// Core numbering is the usual Linux one: NUMA node k holds the k-th equal share of the cores, and
// the SMT siblings of core c are c + cores(), c + 2 * cores(), ...
struct Cpu {
  int32_t sockets = 1;
  int32_t numa_nodes = 1;
  int32_t cores_per_socket = 1;
  int32_t threads_per_core = 1;
  Bandwidth interconnect_nccl{};  // between sockets, as NCCL counts it
  CpuVendor vendor = CpuVendor::Intel;
  int32_t cores() const { return sockets * cores_per_socket; }
  int32_t threads() const { return cores() * threads_per_core; }
};

// What a machine's numbers are about; each has a source.
enum class MachineFact : uint8_t { Gpus, NvLinks, Pcie, Nics, Cpu, Memory, HostPower };
constexpr size_t kMachineFacts = 7;
constexpr std::array<std::string_view, kMachineFacts> enum_names(MachineFact) {
  return {"gpus", "nvlinks", "pcie", "nics", "cpu", "memory", "host_power"};
}

using LinkMatrix = std::array<std::array<int8_t, kGpusPerNodeMax>, kGpusPerNodeMax>;

struct Machine {
  std::string name;
  std::string doc;
  GpuModel gpu;                         // meaningless when there are no GPUs
  std::vector<DevicePlace> gpu_places;  // one per GPU
  LinkMatrix nvlinks{};                 // links between two GPUs; through NVSwitch: links per GPU
  int32_t nvswitches = 0;               // 0: links go straight from GPU to GPU
  int32_t pcie_generation = 3;
  std::vector<Nic> nics;
  Cpu cpu;
  Bytes memory;
  int32_t host_idle_watts = 0;  // the node without its GPUs
  int32_t host_busy_watts = 0;  // the same while its GPUs train
  // By MachineFact; "estimate" and "assumed": ours.
  std::array<std::string_view, kMachineFacts> sources{};

  int32_t gpus() const { return static_cast<int32_t>(gpu_places.size()); }
  GpuMask all_gpus() const { return static_cast<GpuMask>((1U << gpu_places.size()) - 1U); }
  std::string_view source(MachineFact fact) const { return sources[static_cast<size_t>(fact)]; }
  int32_t idle_watts() const { return host_idle_watts + gpus() * gpu.idle_watts; }
  int32_t training_watts() const { return host_busy_watts + gpus() * gpu.training_watts; }
};

// The hybrid cube mesh of DGX-1 with V100, or its first GPUs.
LinkMatrix cube_mesh(int gpus);

// What NCCL's topology model counts for a PCIe x16 slot (12, 24, 48 GB/s for generations 3 to 5)
// and for a NIC (12 GB/s per 100 Gb/s).
Bandwidth pcie_rate(const Machine& machine);
Bandwidth nic_rate(const Nic& nic);

}  // namespace orrery

// models/hardware/resources.hpp -- resource amounts of nodes and pods.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

// Units: Cpu in milli-cores, Memory in bytes, Gpu in milli-GPUs (1000 = one whole GPU), Nic in RDMA
// devices, Pods in pods (a node has kubelet's maxPods, a pod needs 1).
enum class Resource : uint8_t { Cpu, Memory, Gpu, Nic, Pods };
constexpr size_t kResources = 5;
constexpr std::array<std::string_view, kResources> enum_names(Resource) {
  return {"cpu", "memory", "nvidia.com/gpu", "rdma/nic", "pods"};
}

struct Resources {
  std::array<int64_t, kResources> amount{};

  constexpr int64_t& operator[](Resource r) { return amount[static_cast<size_t>(r)]; }
  constexpr int64_t operator[](Resource r) const { return amount[static_cast<size_t>(r)]; }
  constexpr bool operator==(const Resources&) const = default;
  constexpr Resources& operator+=(const Resources& other) {
    for (size_t i = 0; i < kResources; ++i) amount[i] += other.amount[i];
    return *this;
  }
  constexpr Resources& operator-=(const Resources& other) {
    for (size_t i = 0; i < kResources; ++i) amount[i] -= other.amount[i];
    return *this;
  }
};

// Maximum memory of a node or a pod. The sum of 1,000,000 such amounts fits into 64 bits.
constexpr Bytes kNodeMemoryMax = {int64_t{1} << 43};
constexpr int64_t kMilli = 1000;  // milli-units of one core or one GPU
constexpr uint32_t kGpusPerNodeMax = 16;
using GpuMask = uint16_t;  // bit i: GPU i of the node

// The devices of a node that a pod holds.
struct DeviceGrant {
  GpuMask gpus = 0;
  int32_t milli_per_gpu = 0;  // 1000: whole devices
};

}  // namespace orrery

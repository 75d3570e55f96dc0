// models/hardware/gpu_model.hpp -- what one kind of GPU is: memory, power, NVLink.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

// As NCCL's tuner tells GPUs apart; all that are older than Ampere count as Volta there.
enum class GpuGeneration : uint8_t { Volta, Ampere, Hopper, Blackwell };
constexpr std::array<std::string_view, 4> enum_names(GpuGeneration) {
  return {"volta", "ampere", "hopper", "blackwell"};
}

// Names follow the Alibaba openb trace (T4, V100M32, G2), so that its node list finds them.
struct GpuModel {
  std::string name{};
  Bytes memory{};
  // Four points of the power curve. `spin` is a context in a busy wait: nvidia-smi reports 100 %
  // utilisation there, which is why power tells a hung rank from a working one.
  int32_t idle_watts = 0;  // no context
  int32_t spin_watts = 0;
  int32_t training_watts = 0;
  int32_t tdp_watts = 0;
  int32_t nvlinks = 0;      // per GPU; 0: none
  Bandwidth nvlink_raw{};   // one link, one direction
  Bandwidth nvlink_nccl{};  // what NCCL's topology model counts for one link
  GpuGeneration generation = GpuGeneration::Volta;
  std::string_view source_memory{}, source_power{}, source_nvlink{};  // "estimate": ours
};

std::span<const GpuModel> gpu_models();                 // sorted by name
const GpuModel* find_gpu_model(std::string_view name);  // null: unknown

}  // namespace orrery

// models/hardware/gpu_model.hpp -- one GPU model: memory, power, NVLink, speed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

// GPU generations of NCCL's tuner; everything older than Ampere counts as Volta.
enum class GpuGeneration : uint8_t { Volta, Ampere, Hopper, Blackwell };
constexpr std::array<std::string_view, 4> enum_names(GpuGeneration) {
  return {"volta", "ampere", "hopper", "blackwell"};
}

// Number formats of matrix multiplications. half: FP16 or BF16, which are equally fast.
enum class Precision : uint8_t { Fp8, Half, Tf32, Fp32 };
constexpr std::array<std::string_view, 4> enum_names(Precision) {
  return {"fp8", "half", "tf32", "fp32"};
}

// Peak rates in TFLOP/s without sparsity. 0: the GPU has no units for the format, or the rate is
// unknown.
struct PeakRates {
  double fp8 = 0, half = 0, tf32 = 0, fp32 = 0;

  double at(Precision precision) const {
    switch (precision) {
      case Precision::Fp8:
        return fp8;
      case Precision::Half:
        return half;
      case Precision::Tf32:
        return tf32;
      case Precision::Fp32:
        break;
    }
    return fp32;
  }
};

// Names follow the Alibaba openb trace (T4, V100M32, G2), so the names in the trace's node list
// need no translation.
struct GpuModel {
  std::string name{};
  Bytes memory{};
  // Power of the GPU. `spin_watts`: a CUDA context waits in a busy loop. nvidia-smi then reports
  // 100 % utilisation, so only power distinguishes a hung rank from a working one.
  int32_t idle_watts = 0;  // without a CUDA context
  int32_t spin_watts = 0;
  int32_t training_watts = 0;
  int32_t tdp_watts = 0;
  int32_t nvlinks = 0;      // links of one GPU; 0: none, or unknown
  Bandwidth nvlink_raw{};   // rate of one link in one direction
  Bandwidth nvlink_nccl{};  // rate of one link in NCCL's topology model
  GpuGeneration generation = GpuGeneration::Volta;
  PeakRates peak_tflops{};
  // Sources of the values above; "estimate" marks our own values.
  std::string_view source_memory{}, source_power{}, source_nvlink{}, source_peak{};
};

std::span<const GpuModel> gpu_models();                 // sorted by name
const GpuModel* find_gpu_model(std::string_view name);  // null: unknown

}  // namespace orrery

#include "models/hardware/gpu_model.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace orrery {
namespace {

constexpr std::string_view kDatasheet = "NVIDIA product datasheet";
constexpr std::string_view kPowerGuess =
    "TDP from the NVIDIA product datasheet; idle is an estimate; spin and training are estimates "
    "at the A100's fractions of the span from idle to TDP (5.6 %, 95.6 %)";
constexpr std::string_view kPowerA100 =
    "idle 56-60 W: nccl-tests issue 228; spin 72-82 W at 100 % utilisation: Yandex, busy-wait "
    "nodes; training: lognormal around 385 W, AcmeTrace GPU power CDF (p80 389); TDP: datasheet";
constexpr std::string_view kNccl = "links and raw rate: datasheet; per-link constant: NCCL topo.h";
constexpr std::string_view kNone = "NVIDIA product datasheet: no NVLink";
constexpr std::string_view kUndisclosed = "estimate: the openb trace does not disclose this GPU";
constexpr std::string_view kMixed = "estimate: the PAI log groups several older GPU models as MISC";

constexpr Bandwidth megabytes_per_s(int64_t count) { return {count * 8'000'000}; }

struct NvLinkKind {
  int32_t links;
  Bandwidth raw, nccl;
  std::string_view source;
};
constexpr NvLinkKind kNoNvLink{0, {}, {}, kNone};
constexpr NvLinkKind kNvLink2{6, megabytes_per_s(25'000), megabytes_per_s(20'000), kNccl};
constexpr NvLinkKind kNvLink3{12, megabytes_per_s(25'000), megabytes_per_s(20'000), kNccl};
constexpr NvLinkKind kNvLink4{18, megabytes_per_s(25'000), megabytes_per_s(20'600), kNccl};
constexpr NvLinkKind kNvLink5{18, megabytes_per_s(50'000), megabytes_per_s(40'100), kNccl};
constexpr NvLinkKind kNvLinkUnknown{0, {}, {}, kUndisclosed};

struct Power {
  int32_t idle, spin, training, tdp;
  std::string_view source;
};

using enum GpuGeneration;

struct Row {
  std::string_view name;
  GpuGeneration generation;
  Bytes memory;
  std::string_view memory_source;
  Power power;
  NvLinkKind nvlink;
};

constexpr Row kRows[] = {
    {"A10", Ampere, 24_GiB, kDatasheet, {18, 25, 144, 150, kPowerGuess}, kNoNvLink},
    {"A100M40", Ampere, 40_GiB, kDatasheet, {58, 77, 385, 400, kPowerA100}, kNvLink3},
    {"A100M80", Ampere, 80_GiB, kDatasheet, {58, 77, 385, 400, kPowerA100}, kNvLink3},
    {"A100PCIE80", Ampere, 80_GiB, kDatasheet, {44, 58, 289, 300, kPowerGuess}, kNvLink3},
    {"B200M180", Blackwell, 180_GiB, kDatasheet, {100, 150, 960, 1000, kPowerGuess}, kNvLink5},
    {"G2", Volta, 32_GiB, kUndisclosed, {40, 52, 241, 250, kUndisclosed}, kNvLinkUnknown},
    {"G3", Ampere, 80_GiB, kUndisclosed, {58, 77, 385, 400, kUndisclosed}, kNvLinkUnknown},
    {"H100M80", Hopper, 80_GiB, kDatasheet, {70, 105, 672, 700, kPowerGuess}, kNvLink4},
    {"H200M141", Hopper, 141_GiB, kDatasheet, {70, 105, 672, 700, kPowerGuess}, kNvLink4},
    {"MISC", Volta, 12_GiB, kMixed, {25, 38, 225, 235, kMixed}, kNoNvLink},
    {"P100", Volta, 16_GiB, kDatasheet, {28, 40, 240, 250, kPowerGuess}, kNoNvLink},
    {"T4", Volta, 16_GiB, kDatasheet, {10, 13, 67, 70, kPowerGuess}, kNoNvLink},
    {"V100M16", Volta, 16_GiB, kDatasheet, {42, 56, 289, 300, kPowerGuess}, kNvLink2},
    {"V100M32", Volta, 32_GiB, kDatasheet, {42, 56, 289, 300, kPowerGuess}, kNvLink2},
    {"V100PCIE16", Volta, 16_GiB, kDatasheet, {26, 39, 240, 250, kPowerGuess}, kNoNvLink},
};

// Peak rates without sparsity. Data sheets since Ampere also give rates with sparsity, which are
// twice as high.
struct Peak {
  std::string_view name;
  PeakRates tflops;
  std::string_view source = kDatasheet;
};

constexpr Peak kPeaks[] = {
    {"A10", {.half = 125, .tf32 = 62.5, .fp32 = 31.2}},
    {"A100M40", {.half = 312, .tf32 = 156, .fp32 = 19.5}},
    {"A100M80", {.half = 312, .tf32 = 156, .fp32 = 19.5}},
    {"A100PCIE80", {.half = 312, .tf32 = 156, .fp32 = 19.5}},
    {"B200M180",
     {.fp8 = 4500, .half = 2250, .tf32 = 1100, .fp32 = 80},
     "NVIDIA Blackwell architecture technical brief: HGX B200 at 1,000 W"},
    {"H100M80", {.fp8 = 1979, .half = 989, .tf32 = 495, .fp32 = 67}},
    {"H200M141", {.fp8 = 1979, .half = 989, .tf32 = 495, .fp32 = 67}},
    {"P100", {.half = 18.7, .fp32 = 9.3}},
    {"T4", {.half = 65, .fp32 = 8.1}},
    {"V100M16", {.half = 125, .fp32 = 15.7}},
    {"V100M32", {.half = 125, .fp32 = 15.7}},
    {"V100PCIE16", {.half = 112, .fp32 = 14}},
};
constexpr Peak kNoPeak{{}, {}, "not known: left out rather than estimated"};

Peak peak_of(std::string_view name) {
  const auto* const found = std::ranges::find(kPeaks, name, &Peak::name);
  return found == std::end(kPeaks) ? kNoPeak : *found;
}

std::vector<GpuModel> build() {
  std::vector<GpuModel> models;
  for (const Row& row : kRows) {
    const Peak peak = peak_of(row.name);
    models.push_back({.name = std::string{row.name},
                      .memory = row.memory,
                      .idle_watts = row.power.idle,
                      .spin_watts = row.power.spin,
                      .training_watts = row.power.training,
                      .tdp_watts = row.power.tdp,
                      .nvlinks = row.nvlink.links,
                      .nvlink_raw = row.nvlink.raw,
                      .nvlink_nccl = row.nvlink.nccl,
                      .generation = row.generation,
                      .peak_tflops = peak.tflops,
                      .source_memory = row.memory_source,
                      .source_power = row.power.source,
                      .source_nvlink = row.nvlink.source,
                      .source_peak = peak.source});
  }
  std::ranges::sort(models, {}, &GpuModel::name);
  return models;
}

}  // namespace

std::span<const GpuModel> gpu_models() {
  static const std::vector<GpuModel> models = build();
  return models;
}

const GpuModel* find_gpu_model(std::string_view name) {
  const auto models = gpu_models();
  const auto found = std::ranges::find(models, name, &GpuModel::name);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace orrery

#include "sim/cli/machine_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/config/quantity.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {
namespace {

std::string count(int64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string peaks_text(const PeakRates& peaks) {
  std::string text;
  for (const Precision precision : {Precision::Half, Precision::Fp8}) {
    if (peaks.at(precision) == 0) continue;
    text += ", " + std::to_string(std::lround(peaks.at(precision))) + " TFLOP/s at ";
    text += std::string{name_of(precision)} + " precision";
  }
  return text;
}

std::string gpus_text(const Machine& machine) {
  if (machine.gpus() == 0) return "none";
  const GpuModel& gpu = machine.gpu;
  std::string text = std::to_string(machine.gpus()) + " x " + gpu.name;
  text += ", " + format_quantity(gpu.memory) + " each; idle " + std::to_string(gpu.idle_watts);
  text += " W, busy wait " + std::to_string(gpu.spin_watts);
  text += " W, training " + std::to_string(gpu.training_watts);
  text += " W, limit " + std::to_string(gpu.tdp_watts) + " W";
  return text + peaks_text(gpu.peak_tflops);
}

std::string nvlinks_text(const Machine& machine) {
  const auto is_joined = [](const auto& row) {
    return std::ranges::any_of(row, [](int8_t links) { return links > 0; });
  };
  if (!std::ranges::any_of(machine.nvlinks, is_joined)) return "none";
  std::string text = count(machine.gpu.nvlinks, "link") + " per GPU, each ";
  text += format_quantity(machine.gpu.nvlink_raw) + " per direction, ";
  return text + (machine.nvswitches == 0
                     ? std::string{"directly between GPUs"}
                     : "through " + std::to_string(machine.nvswitches) + " NVSwitches");
}

std::string nics_text(const Machine& machine) {
  std::string text;
  std::vector<std::pair<std::string, int>> kinds;
  for (const Nic& nic : machine.nics) {
    const std::string kind = format_quantity(nic.bandwidth) + " " + std::string{name_of(nic.role)};
    if (!kinds.empty() && kinds.back().first == kind) {
      ++kinds.back().second;
    } else {
      kinds.emplace_back(kind, 1);
    }
  }
  for (const auto& [kind, number] : kinds) {
    text += (text.empty() ? "" : ", ") + std::to_string(number) + " x " + kind;
  }
  return text.empty() ? "none" : text;
}

std::string cpu_text(const Cpu& cpu) {
  return count(cpu.sockets, "socket") + ", " + count(cpu.numa_nodes, "NUMA node") + ", " +
         count(cpu.cores(), "core") + ", " + count(cpu.threads(), "thread");
}

}  // namespace

std::string machine_text(const Machine& machine) {
  const std::array<std::string, kMachineFacts> facts{
      gpus_text(machine),
      nvlinks_text(machine),
      "generation " + std::to_string(machine.pcie_generation),
      nics_text(machine),
      cpu_text(machine.cpu),
      format_quantity(machine.memory),
      "idle " + std::to_string(machine.host_idle_watts) + " W, training " +
          std::to_string(machine.host_busy_watts) + " W, without the GPUs",
  };
  constexpr auto kNames = enum_names(MachineFact{});
  size_t width = 0;
  for (const std::string_view name : kNames) width = std::max(width, name.size());
  std::string text = machine.name + ": " + machine.doc + "\n";
  for (size_t i = 0; i < kMachineFacts; ++i) {
    const std::string name{kNames[i]};
    text += "  " + name + std::string(width - name.size() + 2, ' ') + facts[i] + "\n";
    const std::string_view source = machine.source(static_cast<MachineFact>(i));
    if (source.empty()) continue;
    text.append(width + 4, ' ').append("Source: ").append(source).append("\n");
  }
  return text;
}

}  // namespace orrery

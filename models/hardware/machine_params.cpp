#include "models/hardware/machine_params.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "models/hardware/machine_catalogue.hpp"
#include "models/hardware/plain_boxes.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr std::string_view kScenario = "scenario";
constexpr int32_t kNicsMax = 16;

template <class Named>
std::string names_of(std::span<const Named> items) {
  std::string names;
  for (const Named& item : items) {
    if (!names.empty()) names += ", ";
    names += item.name;
  }
  return names;
}

// Applies the parameters to the base machine, one kind of change at a time, and collects every
// mistake. The machine is valid only if there are no mistakes.
class Resolver {
 public:
  explicit Resolver(const MachineParams& params) : params_{params} {
    const Machine* base = find_machine(params.base);
    if (base == nullptr) {
      complain("base", "no machine '" + params.base + "'; known: " + names_of(machine_catalogue()));
      return;
    }
    machine_ = *base;
    if (!params.name.empty()) machine_.name = params.name;
    change_gpu_model();
    change_gpu_count();
    change_nics();
    change_host();
  }
  const Machine& machine() const { return machine_; }
  const std::vector<MachineMistake>& mistakes() const { return mistakes_; }

 private:
  void complain(std::string_view field, std::string message) {
    mistakes_.push_back({field, std::move(message)});
  }
  void set_source(MachineFact fact) { machine_.sources[static_cast<size_t>(fact)] = kScenario; }

  void change_gpu_model() {
    if (params_.gpu_model && *params_.gpu_model != machine_.gpu.name) {
      if (const GpuModel* model = find_gpu_model(*params_.gpu_model)) {
        swap_gpus_for(*model);
      } else {
        name_own_gpu(*params_.gpu_model);
      }
      set_source(MachineFact::Gpus);
    }
    GpuModel& gpu = machine_.gpu;
    if (params_.gpu_memory) {
      gpu.memory = *params_.gpu_memory;
      gpu.source_memory = kScenario;
      if (gpu.memory.count <= 0) complain("gpu_memory", "must be more than 0");
    }
    bool has_power = false;
    const auto change = [&](const std::optional<int32_t>& given, int32_t& value) {
      has_power = has_power || given.has_value();
      value = given.value_or(value);
    };
    change(params_.gpu_idle_watts, gpu.idle_watts);
    change(params_.gpu_spin_watts, gpu.spin_watts);
    change(params_.gpu_training_watts, gpu.training_watts);
    change(params_.gpu_tdp_watts, gpu.tdp_watts);
    if (!has_power) return;
    gpu.source_power = kScenario;
    if (gpu.spin_watts < gpu.idle_watts) complain("gpu_spin_watts", below("idle", gpu.idle_watts));
    if (gpu.training_watts < gpu.spin_watts) {
      complain("gpu_training_watts", below("spin", gpu.spin_watts));
    }
    if (gpu.tdp_watts < gpu.idle_watts) complain("gpu_tdp_watts", below("idle", gpu.idle_watts));
  }

  static std::string below(std::string_view what, int32_t watts) {
    return "must not be below the " + std::string{what} + " power, " + std::to_string(watts) + " W";
  }

  // With NVSwitch, the new GPUs may have any number of links. A mesh of direct links accepts only
  // GPUs with as many links as the old GPUs, or with no links.
  void swap_gpus_for(const GpuModel& model) {
    const int32_t links_before = machine_.gpu.nvlinks;
    machine_.gpu = model;
    const bool has_links = nvlinked();
    if (!has_links || model.nvlinks == links_before) return;
    if (model.nvlinks > 0 && machine_.nvswitches == 0) {
      complain("gpu_model", model.name + " has " + std::to_string(model.nvlinks) +
                                " NVLinks, the mesh of " + params_.base + " takes " +
                                std::to_string(links_before));
      return;
    }
    for (auto& row : machine_.nvlinks) {
      for (int8_t& links : row) {
        if (links > 0) links = static_cast<int8_t>(model.nvlinks);
      }
    }
    if (model.nvlinks == 0) machine_.nvswitches = 0;
    set_source(MachineFact::NvLinks);
  }

  void name_own_gpu(const std::string& name) {
    if (!params_.gpu_memory || !params_.gpu_idle_watts || !params_.gpu_spin_watts ||
        !params_.gpu_training_watts || !params_.gpu_tdp_watts) {
      complain("gpu_model", "no GPU model '" + name + "' (known: " + names_of(gpu_models()) +
                                "); one of your own needs gpu_memory and gpu_idle_watts, "
                                "gpu_spin_watts, gpu_training_watts, gpu_tdp_watts");
    }
    machine_.gpu.name = name;  // NVLink stays as in the base
    machine_.gpu.peak_tflops = {};
    machine_.gpu.source_peak = kScenario;
  }

  bool nvlinked() const {
    return std::ranges::any_of(machine_.nvlinks, [](const auto& row) {
      return std::ranges::any_of(row, [](int8_t links) { return links > 0; });
    });
  }

  void change_gpu_count() {
    const int32_t before = machine_.gpus();
    const int32_t wanted = params_.gpus.value_or(before);
    if (wanted < 0 || wanted > static_cast<int32_t>(kGpusPerNodeMax)) {
      complain("gpus", "must be between 0 and " + std::to_string(kGpusPerNodeMax));
      return;
    }
    if (wanted > 0 && machine_.gpu.name.empty()) {
      complain("gpu_model", params_.base + " has no GPUs, so say which model these are");
      return;
    }
    if (wanted == before) return;
    if (wanted > before) {
      grow_gpus(wanted);
    } else {
      machine_.gpu_places.resize(static_cast<size_t>(wanted));
      for (size_t i = 0; i < kGpusPerNodeMax; ++i) {
        for (size_t j = 0; j < kGpusPerNodeMax; ++j) {
          if (std::max(i, j) >= static_cast<size_t>(wanted)) machine_.nvlinks[i][j] = 0;
        }
      }
      if (wanted == 0) machine_.nvswitches = 0;
    }
    set_source(MachineFact::Gpus);
  }

  void grow_gpus(int32_t wanted) {
    if (nvlinked()) {
      complain("gpus", params_.base + " joins its " + std::to_string(machine_.gpus()) +
                           " GPUs by NVLink and cannot take more");
      return;
    }
    // All GPUs get new places, on the host bridges 0 .. wanted - 1. NICs move to higher-numbered
    // host bridges, which have no GPUs.
    for (Nic& nic : machine_.nics) {
      nic.place.root_port = static_cast<int16_t>(nic.place.root_port + wanted);
      nic.place.host_bridge = static_cast<int16_t>(nic.place.host_bridge + wanted);
      nic.place.pcie_switch = DevicePlace::kNoSwitch;
    }
    machine_.gpu_places.clear();
    for (int32_t g = 0; g < wanted; ++g) {
      machine_.gpu_places.push_back(spread_place(g, wanted, machine_.cpu.sockets, 0));
    }
    set_source(MachineFact::Pcie);
  }

  void change_nics() {
    std::vector<Nic> compute, others;
    for (const Nic& nic : machine_.nics) {
      (nic.role == NicRole::Compute ? compute : others).push_back(nic);
    }
    ORRERY_CHECK(!compute.empty(), "every machine of the catalogue has a compute NIC");
    if (params_.nics) {
      const int32_t wanted = *params_.nics;
      if (wanted < 0 || wanted > kNicsMax) {
        complain("nics", "must be between 0 and " + std::to_string(kNicsMax));
        return;
      }
      std::vector<Nic> spread;
      for (size_t n = 0; n < static_cast<size_t>(wanted); ++n) {
        spread.push_back(compute[n * compute.size() / static_cast<size_t>(wanted)]);
      }
      spread.insert(spread.end(), others.begin(), others.end());
      machine_.nics = std::move(spread);
      set_source(MachineFact::Nics);
    }
    if (!params_.nic_bandwidth) return;
    if (params_.nic_bandwidth->bits_per_s <= 0) complain("nic_bandwidth", "must be more than 0");
    for (Nic& nic : machine_.nics) {
      if (nic.role == NicRole::Compute) nic.bandwidth = *params_.nic_bandwidth;
    }
    set_source(MachineFact::Nics);
  }

  void change_host() {
    if (params_.cpus) change_cpus(*params_.cpus);
    if (params_.memory) {
      machine_.memory = *params_.memory;
      set_source(MachineFact::Memory);
      if (machine_.memory.count <= 0) complain("memory", "must be more than 0");
    }
    if (params_.host_idle_watts || params_.host_busy_watts) {
      machine_.host_idle_watts = params_.host_idle_watts.value_or(machine_.host_idle_watts);
      machine_.host_busy_watts = params_.host_busy_watts.value_or(machine_.host_busy_watts);
      set_source(MachineFact::HostPower);
      if (machine_.host_busy_watts < machine_.host_idle_watts) {
        complain("host_busy_watts", below("idle", machine_.host_idle_watts));
      }
    }
  }

  // Sets the number of logical CPUs, which must divide evenly among the NUMA nodes. If the CPUs of
  // a NUMA node do not fill whole cores, each core gets one thread.
  void change_cpus(int32_t wanted) {
    Cpu& cpu = machine_.cpu;
    if (wanted <= 0 || wanted % cpu.numa_nodes != 0) {
      complain("cpus", "must be a multiple of the " + std::to_string(cpu.numa_nodes) +
                           " NUMA nodes of " + params_.base);
      return;
    }
    if (wanted % (cpu.numa_nodes * cpu.threads_per_core) != 0) cpu.threads_per_core = 1;
    cpu.cores_per_socket = wanted / cpu.threads_per_core / cpu.sockets;
    set_source(MachineFact::Cpu);
  }

  const MachineParams& params_;
  Machine machine_;
  std::vector<MachineMistake> mistakes_;
};

}  // namespace

std::vector<MachineMistake> MachineParams::mistakes() const { return Resolver{*this}.mistakes(); }

Machine resolve(const MachineParams& params) {
  const Resolver resolver{params};
  ORRERY_CHECK(resolver.mistakes().empty(), "check() reports the mistakes of a machine first");
  return resolver.machine();
}

}  // namespace orrery

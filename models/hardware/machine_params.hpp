// models/hardware/machine_params.hpp -- a machine defined in a scenario: a known one with changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/machine.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct MachineMistake {
  std::string_view field;
  std::string message;
};

// Every omitted field is as in `base`.
struct MachineParams {
  std::string name{};
  std::string base = "hgx-h100";
  std::optional<int32_t> gpus{};
  std::optional<std::string> gpu_model{};
  std::optional<Bytes> gpu_memory{};
  std::optional<int32_t> gpu_idle_watts{}, gpu_spin_watts{}, gpu_training_watts{}, gpu_tdp_watts{};
  std::optional<int32_t> cpus{};
  std::optional<Bytes> memory{};
  std::optional<int32_t> nics{};
  std::optional<Bandwidth> nic_bandwidth{};
  std::optional<int32_t> host_idle_watts{}, host_busy_watts{};

  static constexpr std::string_view kDoc =
      "A kind of node: a machine of the catalogue with changes.";
  template <class V>
  void fields(V& v) {
    constexpr Range kWatts{0, 1'000'000};
    v("name", name, "Name of the machine, for use in pools. Empty: the name of the base.");
    v("base", base, "A machine of the catalogue, which gives the values of omitted fields.");
    v("gpus", gpus,
      "GPUs per node, 0 to 16. With fewer GPUs than the base, a node keeps the first GPUs of the "
      "base. More GPUs than the base are possible only if the base has no NVLink.");
    v("gpu_model", gpu_model,
      "GPU model of the catalogue, or a name of your own. With a name of your own, all other gpu_ "
      "fields are required.");
    v("gpu_memory", gpu_memory, "Memory of one GPU.");
    v("gpu_idle_watts", gpu_idle_watts, "Power of one GPU without a CUDA context, in W.", kWatts);
    v("gpu_spin_watts", gpu_spin_watts, "Power of one GPU that waits in a busy loop, in W.",
      kWatts);
    v("gpu_training_watts", gpu_training_watts, "Power of one GPU at work, in W.", kWatts);
    v("gpu_tdp_watts", gpu_tdp_watts, "Thermal design power (TDP) of one GPU, in W.", kWatts);
    v("cpus", cpus, "Logical CPUs (hardware threads), as Kubernetes counts them.",
      Range{1, 1'000'000});
    v("memory", memory, "Main memory of a node.", Range{Bytes{}, kNodeMemoryMax});
    v("nics", nics,
      "Number of compute NICs, 0 to 16. They are spread evenly over the PCIe positions at which "
      "the base has compute NICs.");
    v("nic_bandwidth", nic_bandwidth, "Rate of one compute NIC.");
    v("host_idle_watts", host_idle_watts, "Power of an idle node without its GPUs, in W.", kWatts);
    v("host_busy_watts", host_busy_watts,
      "Power of a node without its GPUs while the GPUs are at work, in W.", kWatts);
  }
  template <class C>
  void check(C& c) const {
    for (const MachineMistake& mistake : mistakes()) c.error(mistake.field, mistake.message);
  }
  std::vector<MachineMistake> mistakes() const;
};

// The machine that `params` describes. MachineParams::mistakes() must be empty.
Machine resolve(const MachineParams& params);

}  // namespace orrery

#include "models/hardware/machine_topology.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <string>

#include "models/hardware/machine_catalogue.hpp"
#include "sim/core/enum_names.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

std::string nic_distances(const Machine& machine, int gpu) {
  std::string row;
  for (int n = 0; n < static_cast<int>(machine.nics.size()); ++n) {
    if (n > 0) row += ' ';
    row += name_of(gpu_nic_distance(machine, gpu, n));
  }
  return row;
}

std::string gpu_distances(const Machine& machine, int gpu) {
  std::string row;
  for (int other = 0; other < machine.gpus(); ++other) {
    const Distance distance = gpu_distance(machine, gpu, other);
    if (other > 0) row += ' ';
    row += name_of(distance);
    if (distance == Distance::NvLink) {
      row += std::to_string(machine.nvlinks[static_cast<size_t>(gpu)][static_cast<size_t>(other)]);
    }
  }
  return row;
}

int subsets_with_rings(const Machine& machine, int size, int rings) {
  int count = 0;
  for (uint32_t mask = 0; mask <= machine.all_gpus(); ++mask) {
    const auto gpus = static_cast<GpuMask>(mask);
    if (std::popcount(gpus) == size && nvlink_rings(machine, gpus) == rings) ++count;
  }
  return count;
}

double gigabytes_per_s(Bandwidth rate) { return static_cast<double>(rate.bits_per_s) / 8e9; }

double compute_nics_gigabytes_per_s(const Machine& machine) {
  double sum = 0;
  for (const Nic& nic : machine.nics) {
    if (nic.role == NicRole::Compute) sum += gigabytes_per_s(nic_rate(nic));
  }
  return sum;
}

json ours_in_machine_topology(const json& input) {
  const Machine* machine = find_machine(input.at("machine").get<std::string>());
  if (machine == nullptr) return "unknown machine";
  const auto quantity = input.at("quantity").get<std::string>();
  const int gpu = input.value("gpu", 0);
  const DevicePlace place = machine->gpu_places.at(static_cast<size_t>(gpu));
  if (quantity == "nic_distances") return nic_distances(*machine, gpu);
  if (quantity == "gpu_distances") return gpu_distances(*machine, gpu);
  if (quantity == "cpu_affinity") return cpu_affinity(machine->cpu, place.numa);
  if (quantity == "numa") return place.numa;
  if (quantity == "nearest_nic") return nearest_nic(*machine, gpu);
  if (quantity == "links_of_gpu") {
    int links = 0;
    for (int8_t count : machine->nvlinks[static_cast<size_t>(gpu)]) links += count;
    return links;
  }
  if (quantity == "subsets_with_rings") {
    return subsets_with_rings(*machine, input.at("size"), input.at("rings"));
  }
  if (quantity == "ring_gigabytes_per_s") {
    GpuMask gpus = 0;
    for (int g : input.at("gpus")) gpus = static_cast<GpuMask>(gpus | 1U << g);
    return gigabytes_per_s(ring_rate(*machine, gpus));
  }
  if (quantity == "nics_gigabytes_per_s") return compute_nics_gigabytes_per_s(*machine);
  return "unknown quantity";
}

TEST(MachineTopologyValidation, EveryCaseOfTheTableHolds) {
  test::check_cases("machine_topology.json", 80, ours_in_machine_topology);
}

}  // namespace
}  // namespace orrery

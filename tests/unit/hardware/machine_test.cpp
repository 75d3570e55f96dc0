#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/hardware/machine_catalogue.hpp"
#include "models/hardware/machine_topology.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery {
namespace {

TEST(MachineCatalogue, IsSortedByNameAndFindsEveryEntry) {
  const auto machines = machine_catalogue();
  EXPECT_TRUE(std::ranges::is_sorted(machines, {}, &Machine::name));
  EXPECT_EQ(std::ranges::adjacent_find(machines, {}, &Machine::name), machines.end());
  for (const Machine& machine : machines) EXPECT_EQ(find_machine(machine.name), &machine);
  EXPECT_EQ(find_machine("dgx"), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(gpu_models(), {}, &GpuModel::name));
  EXPECT_EQ(find_gpu_model("V100"), nullptr);
}

TEST(MachineCatalogue, EveryNumberHasASource) {
  for (const Machine& machine : machine_catalogue()) {
    EXPECT_FALSE(machine.doc.empty()) << machine.name;
    for (size_t fact = 0; fact < kMachineFacts; ++fact) {
      EXPECT_FALSE(machine.sources[fact].empty())
          << machine.name << " " << name_of(static_cast<MachineFact>(fact));
    }
  }
  for (const GpuModel& model : gpu_models()) {
    EXPECT_FALSE(model.source_memory.empty()) << model.name;
    EXPECT_FALSE(model.source_power.empty()) << model.name;
    EXPECT_FALSE(model.source_nvlink.empty()) << model.name;
    EXPECT_FALSE(model.source_peak.empty()) << model.name;
  }
}

TEST(MachineCatalogue, EveryMachineIsPhysicallyPossible) {
  for (const Machine& machine : machine_catalogue()) {
    SCOPED_TRACE(machine.name);
    EXPECT_LE(machine.gpus(), static_cast<int32_t>(kGpusPerNodeMax));
    EXPECT_EQ(machine.cpu.cores() % machine.cpu.numa_nodes, 0);
    EXPECT_GT(machine.memory.count, 0);
    EXPECT_LE(machine.host_idle_watts, machine.host_busy_watts);
    EXPECT_LT(machine.idle_watts(), machine.training_watts());
    for (size_t i = 0; i < kGpusPerNodeMax; ++i) {
      int links = 0;
      for (size_t j = 0; j < kGpusPerNodeMax; ++j) {
        EXPECT_EQ(machine.nvlinks[i][j], machine.nvlinks[j][i]);
        links += machine.nvlinks[i][j];
      }
      EXPECT_EQ(machine.nvlinks[i][i], 0);
      if (machine.nvswitches == 0) {
        EXPECT_LE(links, machine.gpu.nvlinks);
      }
    }
    EXPECT_TRUE(std::ranges::any_of(machine.nics,
                                    [](const Nic& nic) { return nic.role == NicRole::Compute; }));
  }
}

// Devices under one PCIe switch have the same root port, devices under one root port the same host
// bridge, and devices under one host bridge the same NUMA node.
TEST(MachineCatalogue, EveryDeviceTreeIsATree) {
  for (const Machine& machine : machine_catalogue()) {
    std::vector<DevicePlace> places = machine.gpu_places;
    for (const Nic& nic : machine.nics) places.push_back(nic.place);
    for (const DevicePlace& a : places) {
      EXPECT_LT(a.numa, machine.cpu.numa_nodes) << machine.name;
      EXPECT_EQ(a.socket, a.numa * machine.cpu.sockets / machine.cpu.numa_nodes) << machine.name;
      for (const DevicePlace& b : places) {
        if (a.pcie_switch != DevicePlace::kNoSwitch && a.pcie_switch == b.pcie_switch) {
          EXPECT_EQ(a.root_port, b.root_port) << machine.name;
        }
        if (a.root_port == b.root_port) {
          EXPECT_EQ(a.host_bridge, b.host_bridge) << machine.name;
        }
        if (a.host_bridge == b.host_bridge) {
          EXPECT_EQ(a.numa, b.numa) << machine.name;
        }
      }
    }
  }
}

TEST(MachineCatalogue, HasEveryGpuNodeShapeOfOpenb) {
  const std::pair<std::string_view, int> kShapes[] = {
      {"A10", 1}, {"G2", 8},      {"G3", 8},      {"P100", 1},    {"P100", 2},    {"T4", 2},
      {"T4", 4},  {"V100M16", 1}, {"V100M16", 4}, {"V100M16", 8}, {"V100M32", 4}, {"V100M32", 8}};
  for (const auto& [model, gpus] : kShapes) {
    const Machine* machine = find_machine_with(model, gpus);
    ASSERT_NE(machine, nullptr) << model << " x " << gpus;
    EXPECT_EQ(machine->gpu.name, model);
    EXPECT_EQ(machine->gpus(), gpus);
  }
  EXPECT_EQ(find_machine_with("", 0), find_machine("cpu-32"));
  EXPECT_EQ(find_machine_with("T4", 3), nullptr);
}

TEST(MachineTopology, DistanceIsTheStrongestBoundaryOnThePath) {
  const DevicePlace here{.pcie_switch = 0, .root_port = 0, .host_bridge = 0, .numa = 0};
  DevicePlace there = here;
  EXPECT_EQ(pcie_distance(here, there), Distance::Pix);
  there.pcie_switch = 1;
  EXPECT_EQ(pcie_distance(here, there), Distance::Pxb);
  there.root_port = 1;
  EXPECT_EQ(pcie_distance(here, there), Distance::Phb);
  there.host_bridge = 1;
  EXPECT_EQ(pcie_distance(here, there), Distance::Node);
  there.numa = 1;
  EXPECT_EQ(pcie_distance(here, there), Distance::Sys);
}

TEST(MachineTopology, LatencyNeverFallsWithTheDistanceOverPcie) {
  for (Distance d : {Distance::Pxb, Distance::Phb, Distance::Node, Distance::Sys}) {
    const auto nearer = static_cast<Distance>(static_cast<int>(d) - 1);
    EXPECT_GT(path_latency(d), path_latency(nearer));
  }
  EXPECT_EQ(path_latency(Distance::Same), Duration{});
}

TEST(MachineTopology, GpusThatShareTwoNicsTakeOneEach) {
  const Machine& a100 = *find_machine("dgx-a100");
  EXPECT_EQ(nearest_nic(a100, 0), 0);
  EXPECT_EQ(nearest_nic(a100, 1), 1);
  EXPECT_EQ(nearest_nic(a100, 4), 6);  // NIC4 and NIC5 are for storage
  EXPECT_EQ(nearest_nic(a100, 7), 9);
  const Machine& v100 = *find_machine("dgx-1v");
  EXPECT_EQ(nearest_nic(v100, 0), nearest_nic(v100, 1));
}

TEST(MachineTopology, MachineWithoutComputeNicHasNoNearestNic) {
  Machine machine = *find_machine("dgx-a100");
  std::erase_if(machine.nics, [](const Nic& nic) { return nic.role == NicRole::Compute; });
  EXPECT_EQ(nearest_nic(machine, 0), -1);
}

TEST(MachineTopology, NvSwitchGivesAnyTwoGpusEveryLink) {
  const Machine& h100 = *find_machine("hgx-h100");
  EXPECT_EQ(nvlink_rings(h100, 0b1), 0);
  EXPECT_EQ(nvlink_rings(h100, 0b10000001), 18);
  EXPECT_EQ(nvlink_rings(h100, h100.all_gpus()), 18);
  EXPECT_EQ(nvlink_ring_rate(h100, 0b11), Bandwidth{18 * 164'800'000'000});
}

TEST(MachineTopology, CubeMeshRingsBeatPcieOnlyOnTheRightSets) {
  const Machine& v100 = *find_machine("dgx-1v");
  EXPECT_EQ(nvlink_rings(v100, 0b11110000), 2);
  EXPECT_EQ(nvlink_ring_rate(v100, 0b00100001), Bandwidth{});  // no link between GPUs 0 and 5
  // The ring runs over PCIe and across the sockets.
  EXPECT_EQ(ring_rate(v100, 0b00100001), Bandwidth{48'000'000'000});
  // GPUs 0, 1 and 6 form no ring of NVLinks.
  EXPECT_EQ(ring_rate(v100, 0b01000011), Bandwidth{48'000'000'000});
  EXPECT_EQ(gpu_path_rate(v100, 0, 3), Bandwidth{320'000'000'000});
}

TEST(MachineTopology, BoxesWithoutNvLinkRingOverPcie) {
  EXPECT_EQ(ring_rate(*find_machine("t4-4"), 0b0011), Bandwidth{96'000'000'000});
  EXPECT_EQ(ring_rate(*find_machine("t4-4"), 0b1111), Bandwidth{80'000'000'000});
  EXPECT_EQ(ring_rate(*find_machine("a10-4"), 0b0011), Bandwidth{192'000'000'000});
}

TEST(MachineTopology, TextIsTheMatrixPeopleKnow) {
  const std::string text = topology_text(*find_machine("t4-2"));
  EXPECT_EQ(text.substr(0, text.find("\nLegend")),
            "      GPU0  GPU1  NIC0  CPU affinity      NUMA\n"
            "GPU0  X     SYS   NODE  0-25,52-77        0\n"
            "GPU1  SYS   X     SYS   26-51,78-103      1\n"
            "NIC0  NODE  SYS   X     0-25,52-77        0\n");
  for (const Machine& machine : machine_catalogue()) {
    EXPECT_NE(topology_text(machine).find("SYS   the interconnect"), std::string::npos);
  }
}

TEST(MachineTopology, CpuAffinityOfOneCoreIsOneNumber) {
  EXPECT_EQ(cpu_affinity({.sockets = 2, .numa_nodes = 2, .cores_per_socket = 1}, 1), "1");
}

}  // namespace
}  // namespace orrery

#include "models/hardware/machine_params.hpp"

#include <gtest/gtest.h>

#include <string>

#include "models/hardware/machine_catalogue.hpp"
#include "models/hardware/machine_topology.hpp"

namespace orrery {
namespace {

std::string only_mistake_field(const MachineParams& params) {
  const auto mistakes = params.mistakes();
  return mistakes.size() == 1 ? std::string{mistakes[0].field} : "not exactly one mistake";
}

TEST(MachineParams, NothingChangedIsTheBase) {
  for (const Machine& base : machine_catalogue()) {
    const Machine same = resolve({.base = base.name});
    EXPECT_EQ(same.name, base.name);
    EXPECT_EQ(topology_text(same), topology_text(base));
    EXPECT_EQ(same.training_watts(), base.training_watts());
    EXPECT_EQ(same.sources, base.sources);
  }
}

TEST(MachineParams, ChangedFactsNameTheScenarioAsTheirSource) {
  const Machine m = resolve({.name = "mine",
                             .base = "hgx-h100",
                             .cpus = 64,
                             .memory = 512_GiB,
                             .nics = 4,
                             .nic_bandwidth = 200_Gbps,
                             .host_idle_watts = 1000});
  EXPECT_EQ(m.name, "mine");
  EXPECT_EQ(m.cpu.threads(), 64);
  EXPECT_EQ(m.memory, 512_GiB);
  ASSERT_EQ(m.nics.size(), 4U);
  EXPECT_EQ(m.nics[3].bandwidth, 200_Gbps);
  EXPECT_EQ(m.nics[2].place.socket, 1);  // NIC 2 of four is on socket 1: two NICs for each socket
  EXPECT_EQ(m.host_idle_watts, 1000);
  for (MachineFact fact : {MachineFact::Cpu, MachineFact::Memory, MachineFact::Nics}) {
    EXPECT_EQ(m.source(fact), "scenario");
  }
  EXPECT_NE(m.source(MachineFact::NvLinks), "scenario");
}

TEST(MachineParams, FewerGpusKeepTheLinksBetweenThem) {
  const Machine m = resolve({.base = "dgx-1v", .gpus = 4});
  EXPECT_EQ(nvlink_rings(m, m.all_gpus()), 2);
  EXPECT_EQ(resolve({.base = "dgx-1v", .gpus = 0}).gpus(), 0);
}

TEST(MachineParams, MoreGpusNeedABoxWithoutNvLink) {
  const Machine m = resolve({.base = "t4-2", .gpus = 16});
  EXPECT_EQ(m.gpus(), 16);
  EXPECT_EQ(m.gpu_places[15].socket, 1);
  EXPECT_EQ(gpu_nic_distance(m, 0, 0), Distance::Node);
  EXPECT_EQ(only_mistake_field({.base = "hgx-h100", .gpus = 9}), "gpus");
  EXPECT_EQ(only_mistake_field({.base = "t4-2", .gpus = 17}), "gpus");
  EXPECT_EQ(only_mistake_field({.base = "t4-2", .gpus = -1}), "gpus");
}

TEST(MachineParams, AnotherGpuModelBringsItsMemoryPowerAndLinks) {
  const Machine m = resolve({.base = "hgx-h100", .gpu_model = "A100M80"});
  EXPECT_EQ(m.gpu.tdp_watts, 400);
  EXPECT_EQ(nvlink_rings(m, 0b11), 12);
  const Machine slow = resolve({.base = "dgx-1v", .gpu_model = "T4"});
  EXPECT_EQ(nvlink_rings(slow, slow.all_gpus()), 0);
  EXPECT_EQ(only_mistake_field({.base = "dgx-1v", .gpu_model = "H100M80"}), "gpu_model");
  EXPECT_EQ(resolve({.base = "cpu-96", .gpus = 2, .gpu_model = "T4"}).gpu.name, "T4");
  EXPECT_EQ(only_mistake_field({.base = "cpu-96", .gpus = 2}), "gpu_model");
}

TEST(MachineParams, GpuModelOfOnesOwnMustBeDescribedInFull) {
  MachineParams params{.base = "hgx-h100", .gpu_model = "B200", .gpu_memory = 192_GiB};
  EXPECT_EQ(only_mistake_field(params), "gpu_model");
  params.gpu_idle_watts = 140;
  params.gpu_spin_watts = 190;
  params.gpu_training_watts = 950;
  params.gpu_tdp_watts = 1000;
  const Machine m = resolve(params);
  EXPECT_EQ(m.gpu.name, "B200");
  EXPECT_EQ(m.gpu.memory, 192_GiB);
  EXPECT_EQ(m.gpu.source_power, "scenario");
}

TEST(MachineParams, EveryMistakeIsReportedAtItsField) {
  EXPECT_EQ(only_mistake_field({.base = "dgx-9"}), "base");
  EXPECT_EQ(only_mistake_field({.gpu_memory = Bytes{0}}), "gpu_memory");
  EXPECT_EQ(only_mistake_field({.gpu_spin_watts = 1}), "gpu_spin_watts");
  EXPECT_EQ(only_mistake_field({.gpu_training_watts = 80}), "gpu_training_watts");
  EXPECT_EQ(only_mistake_field({.gpu_tdp_watts = 10}), "gpu_tdp_watts");
  EXPECT_EQ(only_mistake_field({.cpus = 0}), "cpus");
  EXPECT_EQ(only_mistake_field({.cpus = 97}), "cpus");
  EXPECT_EQ(only_mistake_field({.memory = Bytes{0}}), "memory");
  EXPECT_EQ(only_mistake_field({.nics = 17}), "nics");
  EXPECT_EQ(only_mistake_field({.nic_bandwidth = Bandwidth{}}), "nic_bandwidth");
  EXPECT_EQ(only_mistake_field({.host_busy_watts = 1}), "host_busy_watts");
  EXPECT_EQ((MachineParams{.gpus = 9, .cpus = 0, .nics = 17}.mistakes().size()), 3U);
}

TEST(MachineParams, CheckPointsAtTheFields) {
  struct Collector {
    std::string text;
    void error(std::string_view field, const std::string&) { text += std::string{field} + " "; }
  } collector;
  MachineParams{.gpus = 9, .cpus = 0}.check(collector);
  EXPECT_EQ(collector.text, "gpus cpus ");
}

TEST(MachineParams, OddCpuCountMeansOneThreadPerCore) {
  EXPECT_EQ(resolve({.base = "v100m16-8", .cpus = 82}).cpu.threads(), 82);
  EXPECT_EQ(resolve({.base = "v100m16-8", .cpus = 82}).cpu.threads_per_core, 1);
}

}  // namespace
}  // namespace orrery

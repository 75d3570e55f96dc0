#include "models/hardware/machine_catalogue.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "models/hardware/plain_boxes.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Bandwidth kEdr = 100_Gbps, kHdr = 200_Gbps, kNdr = 400_Gbps;
constexpr Bandwidth gigabytes_per_s(int64_t count) { return {count * 8'000'000'000}; }

const GpuModel& gpu_model(std::string_view name) {
  const GpuModel* model = find_gpu_model(name);
  ORRERY_CHECK(model != nullptr, "the catalogue names only GPU models it has");
  return *model;
}

constexpr DevicePlace at(int pcie_switch, int root_port, int host_bridge, int numa, int socket) {
  return {.pcie_switch = static_cast<int16_t>(pcie_switch),
          .root_port = static_cast<int16_t>(root_port),
          .host_bridge = static_cast<int16_t>(host_bridge),
          .numa = static_cast<int16_t>(numa),
          .socket = static_cast<int16_t>(socket)};
}

// Through NVSwitch every GPU reaches every other GPU with all of its links.
LinkMatrix all_to_all(int gpus, int links) {
  LinkMatrix matrix{};
  for (size_t i = 0; i < static_cast<size_t>(gpus); ++i) {
    for (size_t j = 0; j < static_cast<size_t>(gpus); ++j) {
      matrix[i][j] = static_cast<int8_t>(i == j ? 0 : links);
    }
  }
  return matrix;
}

// Each PCIe switch holds two GPUs and an EDR NIC; two switches hang on each socket's host bridge.
Machine dgx_1v() {
  Machine m;
  m.name = "dgx-1v";
  m.doc = "DGX-1 with V100: hybrid cube mesh, 4 x EDR";
  m.gpu = gpu_model("V100M32");
  for (int g = 0; g < 8; ++g) m.gpu_places.push_back(at(g / 2, g / 2, g / 4, g / 4, g / 4));
  m.nvlinks = cube_mesh(8);
  m.pcie_generation = 3;
  for (int n = 0; n < 4; ++n) m.nics.push_back({at(n, n, n / 2, n / 2, n / 2), kEdr});
  m.cpu = {2, 2, 20, 2, gigabytes_per_s(6)};
  m.memory = 512_GiB;
  m.host_idle_watts = 500;
  m.host_busy_watts = 1100;
  m.sources = {
      "DGX-1 with V100 datasheet",
      "the published mesh; the topology matrix in NCCL issue 671 confirms the links of GPU 0 and "
      "GPU 1",
      "nccl-tests issue 29; DGX-1 system architecture white paper",
      "nccl-tests issue 29: one EDR per PCIe switch",
      "DGX-1 with V100 datasheet: 2 x E5-2698 v4; socket links from NCCL topo.h, Broadwell",
      "DGX-1 with V100 datasheet",
      "training is the datasheet maximum of 3.5 kW, less 8 x 300 W; idle is an estimate"};
  return m;
}

// Each socket has two host bridges, each with one root port over two PCIe switches. Each switch
// holds two GPUs and a NIC.
Machine dgx_2() {
  Machine m;
  m.name = "dgx-2";
  m.doc = "DGX-2: 16 V100 through 12 NVSwitch, 8 x EDR";
  m.gpu = gpu_model("V100M32");
  for (int g = 0; g < 16; ++g) m.gpu_places.push_back(at(g / 2, g / 4, g / 4, g / 8, g / 8));
  m.nvlinks = all_to_all(16, m.gpu.nvlinks);
  m.nvswitches = 12;
  m.pcie_generation = 3;
  for (int n = 0; n < 8; ++n) m.nics.push_back({at(n, n / 2, n / 2, n / 4, n / 4), kEdr});
  m.cpu = {2, 2, 24, 2, gigabytes_per_s(10)};
  m.memory = 1536_GiB;
  m.host_idle_watts = 1500;
  m.host_busy_watts = 5200;
  m.sources = {"DGX-2 datasheet",
               "DGX-2 datasheet; nccl-tests issue 78",
               "nccl-tests issue 78: topology of GPU 0 and 1; the other GPUs by symmetry",
               "nccl-tests issue 78",
               "DGX-2 datasheet: 2 x Platinum 8168; socket links from NCCL topo.h, Skylake",
               "DGX-2 datasheet",
               "training is the datasheet maximum of 10 kW, less 16 x 300 W; idle is an estimate"};
  return m;
}

// Four groups of two GPUs and two NICs. Each group is below one root port of its own NUMA node. The
// GPUs of a group share one switch. Each NIC has a switch of its own, so GPU and NIC are at
// distance PXB. The storage card sits on a NUMA node without GPUs.
Machine dgx_a100(std::string name, std::string_view gpu, Bytes memory) {
  constexpr int kNumaOfPair[] = {3, 1, 7, 5};
  Machine m;
  m.name = std::move(name);
  m.gpu = gpu_model(gpu);
  m.doc = "DGX A100 (" + m.gpu.name + "): 8 GPUs through 6 NVSwitch, 8 x HDR + 2 storage ports";
  for (int g = 0; g < 8; ++g) {
    const int pair = g / 2, numa = kNumaOfPair[pair];
    m.gpu_places.push_back(at(3 * pair, pair, numa, numa, numa / 4));
  }
  m.nvlinks = all_to_all(8, m.gpu.nvlinks);
  m.nvswitches = 6;
  m.pcie_generation = 4;
  for (int pair = 0; pair < 4; ++pair) {
    if (pair == 2) {
      m.nics.insert(m.nics.end(), 2, {at(12, 4, 0, 0, 0), kHdr, NicRole::Storage});
    }
    const int numa = kNumaOfPair[pair];
    m.nics.push_back({at(3 * pair + 1, pair, numa, numa, numa / 4), kHdr});
    m.nics.push_back({at(3 * pair + 2, pair, numa, numa, numa / 4), kHdr});
  }
  m.cpu = {2, 8, 64, 2, gigabytes_per_s(16), CpuVendor::Amd};
  m.memory = memory;
  m.host_idle_watts = 940;
  m.host_busy_watts = 1690;
  m.sources = {
      "DGX A100 datasheet",
      "DGX A100 datasheet; Fabric Manager user guide",
      "NCCL issue 1505; places of NIC 8 and NIC 9 inferred",
      "NCCL issue 1505; NUMA node of the storage card and distance between its ports are estimates",
      "NCCL issue 1505: 2 x EPYC 7742, NPS4; socket links from NCCL topo.h, AMD",
      "DGX A100 datasheet",
      "estimates from the power of AcmeTrace's servers: idle is the 1st percentile, less the GPUs "
      "(1421 W - 8 x 60 W); training is the 90th percentile, less the GPUs (4851 W - 8 x 395 W)"};
  return m;
}

Machine h100_box(int cores_per_socket) {
  Machine m;
  m.gpu = gpu_model("H100M80");
  // Each GPU shares a PCIe switch with its own NIC; each switch has its own host bridge.
  for (int g = 0; g < 8; ++g) m.gpu_places.push_back(at(g, g, g, g / 4, g / 4));
  m.nvlinks = all_to_all(8, m.gpu.nvlinks);
  m.nvswitches = 4;
  m.pcie_generation = 5;
  m.cpu = {2, 2, cores_per_socket, 2, gigabytes_per_s(22)};
  m.memory = 2048_GiB;
  m.host_idle_watts = 1500;
  m.host_busy_watts = 2380;
  m.sources = {"DGX H100 user guide",
               "DGX H100 user guide; Fabric Manager user guide",
               "DGX H100 user guide: each GPU is PIX to its own NIC; host bridges are estimates",
               "DGX H100 user guide",
               "DGX H100 user guide: 2 x 56 cores; socket links from NCCL topo.h, Sapphire Rapids",
               "DGX H100 user guide",
               "training is an estimate: 76 % of the maximum of a DGX H100, less the GPUs "
               "(0.76 x 10.2 kW - 8 x 672 W); idle is an estimate"};
  return m;
}

Machine hgx_h100() {
  Machine m = h100_box(48);
  m.name = "hgx-h100";
  m.doc = "HGX H100: 8 GPUs through 4 NVSwitch, 8 x NDR, GPU i next to NIC i";
  for (const DevicePlace& place : m.gpu_places) m.nics.push_back({place, kNdr});
  const auto source = [&](MachineFact fact) -> std::string_view& {
    return m.sources[static_cast<size_t>(fact)];
  };
  source(MachineFact::Gpus) = "NVIDIA HGX H100 datasheet";
  source(MachineFact::Pcie) = "assumed: each GPU is PIX to its own NIC, as in DGX H100";
  source(MachineFact::Nics) = "assumed: the compute NICs of DGX H100, in the order of the GPUs";
  source(MachineFact::Cpu) =
      "NCCL issue 1357: 2 x 48 cores; socket links from NCCL topo.h, Sapphire Rapids";
  source(MachineFact::Memory) = "assumed: as in DGX H100";
  return m;
}

// An HGX H100 board with more memory on each GPU.
Machine hgx_h200() {
  Machine m = hgx_h100();
  m.name = "hgx-h200";
  m.doc = "HGX H200: 8 GPUs through 4 NVSwitch, 8 x NDR, GPU i next to NIC i";
  m.gpu = gpu_model("H200M141");
  m.sources[static_cast<size_t>(MachineFact::Gpus)] = "NVIDIA HGX H200 datasheet";
  m.sources[static_cast<size_t>(MachineFact::Cpu)] = "assumed: as in HGX H100";
  return m;
}

Machine dgx_b200() {
  Machine m = h100_box(56);
  m.name = "dgx-b200";
  m.doc = "DGX B200: 8 GPUs through 2 NVSwitch, 8 x NDR, GPU i next to NIC i";
  m.gpu = gpu_model("B200M180");
  m.nvlinks = all_to_all(8, m.gpu.nvlinks);
  m.nvswitches = 2;
  for (const DevicePlace& place : m.gpu_places) m.nics.push_back({place, kNdr});
  m.host_busy_watts = 3190;
  m.sources = {
      "DGX B200 datasheet",
      "DGX B200 datasheet; Fabric Manager user guide",
      "assumed: each GPU is PIX to its own NIC, as in DGX H100",
      "DGX B200 datasheet: 8 x 400 Gb/s; places assumed; storage ports are not modelled",
      "DGX B200 datasheet: 2 x Platinum 8570; socket links from NCCL topo.h, Sapphire Rapids",
      "DGX B200 datasheet",
      "training is an estimate: 76 % of the maximum of a DGX B200, less the GPUs "
      "(0.76 x 14.3 kW - 8 x 960 W); idle is an estimate"};
  return m;
}

Machine dgx_h100() {
  Machine m = h100_box(56);
  m.name = "dgx-h100";
  m.doc = "DGX H100: 8 GPUs through 4 NVSwitch, 8 x NDR + 4 storage ports, NIC i is mlx5_i";
  constexpr int kStorage = -1;
  constexpr int kGpuOfNic[] = {0, kStorage, kStorage, 1, 2, 3, 4, kStorage, kStorage, 5, 6, 7};
  for (size_t n = 0; n < std::size(kGpuOfNic); ++n) {
    if (const int gpu = kGpuOfNic[n]; gpu != kStorage) {
      m.nics.push_back({m.gpu_places[static_cast<size_t>(gpu)], kNdr});
    } else {  // storage port; each socket has two, behind a host bridge without GPUs
      const int socket = n < 6 ? 0 : 1;
      m.nics.push_back(
          {at(8 + socket, 8 + socket, 8 + socket, socket, socket), kHdr, NicRole::Storage});
    }
  }
  m.sources[static_cast<size_t>(MachineFact::Nics)] =
      "DGX H100 user guide; rate and places of the storage ports are estimates";
  return m;
}

std::vector<Machine> build_machines() {
  std::vector<Machine> machines = plain_boxes();
  machines.push_back(dgx_1v());
  machines.push_back(dgx_2());
  machines.push_back(dgx_a100("dgx-a100", "A100M80", 2048_GiB));
  machines.push_back(dgx_a100("dgx-a100-40g", "A100M40", 1024_GiB));
  machines.push_back(dgx_b200());
  machines.push_back(dgx_h100());
  machines.push_back(hgx_h100());
  machines.push_back(hgx_h200());
  std::ranges::sort(machines, {}, &Machine::name);
  return machines;
}

}  // namespace

std::span<const Machine> machine_catalogue() {
  static const std::vector<Machine> machines = build_machines();
  return machines;
}

const Machine* find_machine(std::string_view name) {
  const auto machines = machine_catalogue();
  const auto found = std::ranges::find(machines, name, &Machine::name);
  return found == machines.end() ? nullptr : &*found;
}

const Machine* find_machine_with(std::string_view gpu_model, int gpus) {
  const Machine* best = nullptr;
  for (const Machine& machine : machine_catalogue()) {
    if (machine.gpus() != gpus || (gpus > 0 && machine.gpu.name != gpu_model)) continue;
    if (best == nullptr || (gpus == 0 && machine.cpu.threads() < best->cpu.threads())) {
      best = &machine;
    }
  }
  return best;
}

}  // namespace orrery

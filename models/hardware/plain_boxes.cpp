#include "models/hardware/plain_boxes.hpp"

#include <algorithm>
#include <string_view>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Sources of the values. The openb node list gives only the GPUs, logical CPUs and memory of a
// node. Every value without a published source is assumed.
constexpr std::string_view kOpenb = "Alibaba openb node list (clusterdata 7a6c496e)";
constexpr std::string_view kOpenbThreads =
    "threads from the Alibaba openb node list; sockets and cores assumed; socket links from NCCL "
    "topo.h";
constexpr std::string_view kOpenbThreadsOfOneSocket =
    "threads from the Alibaba openb node list; socket and cores assumed";
constexpr std::string_view kAssumed = "assumed";
constexpr std::string_view kNoNvLinkSource = "NVIDIA product datasheet: no NVLink";
constexpr std::string_view kNoPartner = "not needed, because a single GPU has no peer";
constexpr std::string_view kNoGpu = "not needed, because the node has no GPU";
constexpr std::string_view kP100Card =
    "assumed: the PCIe card, without NVLink; the openb list does not say";
constexpr std::string_view kPai = "Alibaba PAI machine list (clusterdata 2020)";
constexpr std::string_view kOldCards = "assumed: cards without NVLink; the PAI log does not say";
constexpr std::string_view kAssumedOfOpenb = "assumed: the openb trace does not disclose this GPU";
constexpr std::string_view kHalfMesh =
    "assumed: GPUs 0-3 of the hybrid cube mesh of DGX-1 (NCCL issue 671); only 4 or 5 of "
    "the 6 links per GPU are connected";
constexpr std::string_view kCubeMesh = "assumed: the hybrid cube mesh of DGX-1 (NCCL issue 671)";
constexpr std::string_view kBridges =
    "nccl-tests issue 178: bridges of twelve links join pairs of cards";
constexpr std::string_view kPcieOfCard =
    "generation from the NVIDIA product datasheet of the GPU; PCIe topology assumed";

// One kind of server. It has `sockets * cores * threads` logical CPUs; the node lists of traces
// give only this product. In the openb list, nodes with equal GPUs may differ in other parts. The
// row then describes the most common kind of these nodes.
struct Box {
  std::string_view name, doc, gpu;
  int gpus, per_switch;
  std::string_view nvlink_source;
  int pcie_generation;
  int nics, nic_gbps;
  int sockets, cores, threads;
  int interconnect_gigabytes;  // in GB/s; NCCL topo.h: Broadwell 6, Skylake 10, AMD 16
  int memory_gib;
  std::string_view shape_source;  // source of the numbers of GPUs and CPUs, and of the memory
  int host_idle_watts, host_busy_watts;
};

constexpr Box kBoxes[] = {
    {"a10-1", "one A10", "A10", 1, 0, kNoNvLinkSource, 4, 1, 25, 2, 32, 2, 10, 1024, kOpenb, 220,
     450},
    {"a10-2", "two A10", "A10", 2, 0, kNoNvLinkSource, 4, 1, 25, 2, 32, 2, 10, 512, kAssumed, 220,
     450},
    {"a10-4", "four A10", "A10", 4, 0, kNoNvLinkSource, 4, 1, 25, 2, 32, 2, 10, 512, kAssumed, 220,
     450},
    {"a100-pcie-4", "four A100 PCIe cards, joined in pairs by NVLink bridges", "A100PCIE80", 4, 0,
     kBridges, 4, 2, 200, 2, 32, 2, 16, 512, kAssumed, 350, 700},
    {"cpu-32", "32 logical CPUs, no GPU", "", 0, 0, kNoGpu, 3, 1, 25, 1, 16, 2, 10, 256, kOpenb,
     120, 280},
    {"cpu-96", "96 logical CPUs, no GPU", "", 0, 0, kNoGpu, 3, 1, 25, 2, 24, 2, 10, 512, kOpenb,
     220, 546},
    {"g2-8", "eight GPUs of openb's undisclosed kind G2", "G2", 8, 2, kAssumedOfOpenb, 3, 2, 100, 2,
     24, 2, 10, 384, kOpenb, 400, 900},
    {"g3-8", "eight GPUs of openb's undisclosed kind G3", "G3", 8, 2, kAssumedOfOpenb, 4, 4, 100, 2,
     32, 2, 10, 768, kOpenb, 600, 1200},
    {"misc-8", "eight of the older GPUs that the PAI log calls MISC", "MISC", 8, 4, kOldCards, 3, 1,
     10, 2, 24, 2, 6, 512, kPai, 350, 700},
    {"p100-1", "one P100", "P100", 1, 0, kP100Card, 3, 1, 10, 1, 4, 2, 6, 60, kOpenb, 80, 150},
    {"p100-2", "two P100", "P100", 2, 0, kP100Card, 3, 1, 10, 1, 8, 2, 6, 120, kOpenb, 120, 250},
    {"t4-2", "two T4", "T4", 2, 0, kNoNvLinkSource, 3, 1, 25, 2, 26, 2, 10, 512, kOpenb, 220, 450},
    {"t4-4", "four T4", "T4", 4, 0, kNoNvLinkSource, 3, 1, 25, 2, 24, 2, 10, 384, kOpenb, 220, 450},
    {"v100-pcie-4", "four V100 PCIe cards, no NVLink", "V100PCIE16", 4, 2, kNoNvLinkSource, 3, 1,
     100, 2, 16, 2, 10, 256, kAssumed, 250, 500},
    {"v100-pcie-8", "eight V100 PCIe cards, no NVLink", "V100PCIE16", 8, 4, kNoNvLinkSource, 3, 2,
     100, 2, 20, 2, 10, 512, kAssumed, 350, 700},
    {"v100m16-1", "a one-GPU share of a V100 16 GB server", "V100M16", 1, 0, kNoPartner, 3, 1, 10,
     1, 4, 2, 10, 32, kOpenb, 80, 150},
    {"v100m16-4", "four V100 16 GB SXM2", "V100M16", 4, 2, kHalfMesh, 3, 1, 25, 1, 16, 2, 10, 128,
     kOpenb, 200, 450},
    {"v100m16-8", "eight V100 16 GB SXM2", "V100M16", 8, 2, kCubeMesh, 3, 2, 25, 2, 16, 2, 10, 256,
     kOpenb, 400, 900},
    {"v100m32-4", "four V100 32 GB SXM2", "V100M32", 4, 2, kHalfMesh, 3, 1, 25, 1, 24, 2, 10, 368,
     kOpenb, 250, 500},
    {"v100m32-8", "eight V100 32 GB SXM2", "V100M32", 8, 2, kCubeMesh, 3, 2, 25, 2, 24, 2, 10, 768,
     kOpenb, 450, 950},
};

constexpr int kAmdInterconnect = 16;

// Cards 2i and 2i + 1 share a bridge, which uses all of their links.
LinkMatrix bridged_pairs(int gpus, int links) {
  LinkMatrix matrix{};
  for (size_t gpu = 0; gpu < static_cast<size_t>(gpus); ++gpu) {
    matrix[gpu][gpu ^ 1U] = static_cast<int8_t>(links);
  }
  return matrix;
}

Machine build(const Box& box) {
  Machine machine;
  machine.name = box.name;
  machine.doc = box.doc;
  if (box.gpus > 0) {
    const GpuModel* gpu = find_gpu_model(box.gpu);
    ORRERY_CHECK(gpu != nullptr, "the catalogue names only GPU models it has");
    machine.gpu = *gpu;
  }
  for (int g = 0; g < box.gpus; ++g) {
    machine.gpu_places.push_back(spread_place(g, box.gpus, box.sockets, box.per_switch));
  }
  if (box.nvlink_source == kHalfMesh || box.nvlink_source == kCubeMesh) {
    machine.nvlinks = cube_mesh(box.gpus);
  }
  if (box.nvlink_source == kBridges) {
    machine.nvlinks = bridged_pairs(box.gpus, machine.gpu.nvlinks);
  }
  machine.pcie_generation = box.pcie_generation;
  for (int n = 0; n < box.nics; ++n) {
    // With PCIe switches, NIC n is below the switch of GPU n * gpus / nics. Without switches, each
    // NIC has its own host bridge.
    DevicePlace place = box.per_switch > 0
                            ? machine.gpu_places[static_cast<size_t>(n * box.gpus / box.nics)]
                            : spread_place(n, box.nics, box.sockets, 0);
    if (box.per_switch == 0) {
      place.root_port = static_cast<int16_t>(box.gpus + n);
      place.host_bridge = place.root_port;
    }
    machine.nics.push_back({place, {box.nic_gbps * 1'000'000'000LL}, NicRole::Compute});
  }
  machine.cpu = {
      .sockets = box.sockets,
      .numa_nodes = box.sockets,
      .cores_per_socket = box.cores,
      .threads_per_core = box.threads,
      .interconnect_nccl = {box.interconnect_gigabytes * 8'000'000'000LL},
      .vendor = box.interconnect_gigabytes == kAmdInterconnect ? CpuVendor::Amd : CpuVendor::Intel};
  machine.memory = {box.memory_gib * (1LL << 30)};
  machine.host_idle_watts = box.host_idle_watts;
  machine.host_busy_watts = box.host_busy_watts;
  const bool is_known_gpu =
      box.gpus > 0 && box.nvlink_source != kAssumedOfOpenb && box.nvlink_source != kOldCards;
  machine.sources = {box.shape_source,
                     box.nvlink_source,
                     is_known_gpu ? kPcieOfCard : kAssumed,
                     kAssumed,
                     box.shape_source != kOpenb ? kAssumed
                     : box.sockets == 1         ? kOpenbThreadsOfOneSocket
                                                : kOpenbThreads,
                     box.shape_source,
                     kAssumed};
  if (box.name == "cpu-96") {
    machine.sources[static_cast<size_t>(MachineFact::HostPower)] =
        "training is the median of AcmeTrace's CPU nodes, 546 W; idle is assumed";
  }
  return machine;
}

}  // namespace

DevicePlace spread_place(int gpu, int gpus, int sockets, int per_switch) {
  const auto socket = static_cast<int16_t>(gpu * sockets / std::max(gpus, 1));
  const auto part = static_cast<int16_t>(per_switch > 0 ? gpu / per_switch : gpu);
  return {.pcie_switch = per_switch > 0 ? part : DevicePlace::kNoSwitch,
          .root_port = part,
          .host_bridge = part,
          .numa = socket,
          .socket = socket};
}

std::vector<Machine> plain_boxes() {
  std::vector<Machine> machines;
  for (const Box& box : kBoxes) machines.push_back(build(box));
  return machines;
}

}  // namespace orrery

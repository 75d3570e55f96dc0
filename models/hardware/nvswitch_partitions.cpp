#include "models/hardware/nvswitch_partitions.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace orrery {
namespace {

constexpr std::string_view kGuide = "NVIDIA Fabric Manager user guide";

using Modules = std::initializer_list<int>;

GpuMask mask_of(Modules modules) {
  GpuMask mask = 0;
  for (const int module : modules) mask = static_cast<GpuMask>(mask | 1U << (module - 1));
  return mask;
}

void add(NvSwitchBoard& board, int32_t links, std::initializer_list<Modules> partitions) {
  for (const Modules& modules : partitions) {
    const auto id = static_cast<int32_t>(board.partitions.size());
    board.partitions.push_back({.id = id, .gpus = mask_of(modules), .links = links});
  }
}

void add_singles(NvSwitchBoard& board) {
  for (int32_t module = 1; module <= board.gpus; ++module) add(board, 0, {{module}});
}

NvSwitchBoard hgx_h100_board() {
  NvSwitchBoard board{.name = "hgx-h100",
                      .doc = "HGX H100, H200, H800, H20: 8 GPUs",
                      .gpus = 8,
                      .nvswitches = 4,
                      .links = 18,
                      .partitions = {},
                      // The guide lists no virtual machine with 4 GPUs and two of the switches. A
                      // GPU has 4, 5, 5 and 4 links to the four switches, so the number of its
                      // links would depend on the choice of the two switches.
                      .passthrough = {{8, 4, 18}, {1, 0, 0}},
                      .source = kGuide};
  add(board, 18, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4}, {5, 6, 7, 8}});
  add(board, 18, {{1, 3}, {2, 4}, {5, 7}, {6, 8}});
  add_singles(board);
  return board;
}

NvSwitchBoard hgx_b200_board() {
  NvSwitchBoard board{.name = "hgx-b200",
                      .doc = "HGX B200: 8 GPUs",
                      .gpus = 8,
                      .nvswitches = 2,
                      .links = 18,
                      .partitions = {},
                      .passthrough = {{8, 2, 18}, {1, 0, 0}},
                      .source = kGuide};
  add(board, 18, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4}, {5, 6, 7, 8}});
  add(board, 18, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  add_singles(board);
  return board;
}

// The partitions of hgx-a100-dual that use only the first baseboard, with new ids.
NvSwitchBoard hgx_a100_board() {
  NvSwitchBoard board{.name = "hgx-a100",
                      .doc = "HGX A100, one baseboard: 8 GPUs",
                      .gpus = 8,
                      .nvswitches = 6,
                      .links = 12,
                      .partitions = {},
                      .passthrough = {{8, 6, 12}, {4, 3, 6}, {2, 1, 2}, {1, 0, 0}},
                      .source = kGuide};
  add(board, 12, {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4}, {5, 6, 7, 8}});
  add(board, 12, {{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  add_singles(board);
  return board;
}

NvSwitchBoard hgx_a100_dual_board() {
  NvSwitchBoard board{.name = "hgx-a100-dual",
                      .doc = "HGX A100, two baseboards: 16 GPUs",
                      .gpus = 16,
                      .nvswitches = 12,
                      .links = 12,
                      .partitions = {},
                      .passthrough = {{16, 12, 12}, {8, 6, 12}, {4, 3, 6}, {2, 1, 2}, {1, 0, 0}},
                      .source = kGuide};
  add(board, 12, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}});
  add(board, 12, {{1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}});
  add(board, 12, {{1, 2, 3, 4, 9, 10, 11, 12}, {5, 6, 7, 8, 13, 14, 15, 16}});
  add(board, 12, {{1, 2, 3, 4, 13, 14, 15, 16}, {5, 6, 7, 8, 9, 10, 11, 12}});
  add(board, 12, {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}});
  for (int first = 1; first < 16; first += 2) add(board, 12, {{first, first + 1}});
  add_singles(board);
  return board;
}

// The partitions of 4 and 2 GPUs on the first baseboard are published. Those on the second are
// assumed to have the same module ids plus 8.
NvSwitchBoard hgx_2_board() {
  NvSwitchBoard board{.name = "hgx-2",
                      .doc = "HGX-2 with V100, two baseboards: 16 GPUs",
                      .gpus = 16,
                      .nvswitches = 12,
                      .links = 6,
                      .partitions = {},
                      .passthrough = {{16, 12, 6}, {8, 6, 6}, {4, 3, 3}, {2, 1, 1}, {1, 0, 0}},
                      .source = "NVIDIA Fabric Manager user guide; second board: by symmetry"};
  add(board, 6, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}});
  add(board, 6, {{1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}});
  for (const int shift : {0, 8}) {
    add(board, 5,
        {{1 + shift, 4 + shift, 6 + shift, 7 + shift},
         {2 + shift, 3 + shift, 5 + shift, 8 + shift}});
  }
  for (const int shift : {0, 8}) {
    add(board, 5,
        {{1 + shift, 4 + shift},
         {2 + shift, 3 + shift},
         {5 + shift, 8 + shift},
         {6 + shift, 7 + shift}});
  }
  add_singles(board);
  return board;
}

std::vector<NvSwitchBoard> build_boards() {
  std::vector<NvSwitchBoard> boards{hgx_2_board(), hgx_a100_board(), hgx_a100_dual_board(),
                                    hgx_b200_board(), hgx_h100_board()};
  std::ranges::sort(boards, {}, &NvSwitchBoard::name);
  return boards;
}

}  // namespace

const NvSwitchPartition* NvSwitchBoard::find(GpuMask gpus_wanted) const {
  const auto found = std::ranges::find(partitions, gpus_wanted, &NvSwitchPartition::gpus);
  return found == partitions.end() ? nullptr : &*found;
}

std::span<const NvSwitchBoard> nvswitch_boards() {
  static const std::vector<NvSwitchBoard> boards = build_boards();
  return boards;
}

const NvSwitchBoard* find_nvswitch_board(std::string_view name) {
  const auto boards = nvswitch_boards();
  const auto found = std::ranges::find(boards, name, &NvSwitchBoard::name);
  return found == boards.end() ? nullptr : &*found;
}

const NvSwitchBoard* board_of(const Machine& machine) {
  if (machine.nvswitches == 0) return nullptr;
  for (const NvSwitchBoard& board : nvswitch_boards()) {
    if (board.gpus == machine.gpus() && board.nvswitches == machine.nvswitches &&
        board.links == machine.gpu.nvlinks) {
      return &board;
    }
  }
  return nullptr;
}

const NvSwitchPartition* ActivePartitions::find(int32_t id) const {
  const bool is_known = id >= 0 && static_cast<size_t>(id) < board_->partitions.size();
  return is_known ? &board_->partitions[static_cast<size_t>(id)] : nullptr;
}

bool ActivePartitions::is_active(int32_t id) const {
  return std::ranges::binary_search(active_, id);
}

PartitionAnswer ActivePartitions::activate(int32_t id) {
  const NvSwitchPartition* const partition = find(id);
  if (partition == nullptr) return PartitionAnswer::BadParam;
  if ((partition->gpus & in_use_) != 0) return PartitionAnswer::InUse;
  in_use_ = static_cast<GpuMask>(in_use_ | partition->gpus);
  active_.insert(std::ranges::lower_bound(active_, id), id);
  return PartitionAnswer::Success;
}

PartitionAnswer ActivePartitions::deactivate(int32_t id) {
  if (!is_active(id)) return PartitionAnswer::BadParam;
  in_use_ = static_cast<GpuMask>(in_use_ & ~find(id)->gpus);
  active_.erase(std::ranges::lower_bound(active_, id));
  return PartitionAnswer::Success;
}

std::vector<int32_t> ActivePartitions::available(int32_t gpus) const {
  std::vector<int32_t> ids;
  for (const NvSwitchPartition& partition : board_->partitions) {
    const bool is_free = (partition.gpus & in_use_) == 0;
    if (is_free && std::popcount(partition.gpus) == gpus) ids.push_back(partition.id);
  }
  return ids;
}

std::string module_ids(GpuMask gpus) {
  std::string text;
  for (int first = 0; first < static_cast<int>(kGpusPerNodeMax); ++first) {
    if ((gpus >> first & 1U) == 0) continue;
    int last = first;
    while (last + 1 < static_cast<int>(kGpusPerNodeMax) && (gpus >> (last + 1) & 1U) != 0) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first + 1);
    if (last > first) text += (last == first + 1 ? "," : "-") + std::to_string(last + 1);
    first = last;
  }
  return text;
}

std::string partitions_text(const NvSwitchBoard& board) {
  std::string text = "Partitions of " + std::string{board.doc} +
                     ", each as: partition id {module ids of its GPUs}\n";
  const NvSwitchPartition* before = nullptr;
  for (const NvSwitchPartition& partition : board.partitions) {
    const int gpus = std::popcount(partition.gpus);
    if (before != nullptr && std::popcount(before->gpus) == gpus) {
      text += "  ";
    } else {
      if (before != nullptr) text += "\n";
      text += "  " + std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") + ", " +
              std::to_string(partition.links) + " NVLinks each:  ";
    }
    text += std::to_string(partition.id) + " {" + module_ids(partition.gpus) + "}";
    before = &partition;
  }
  return text + "\n  Source: " + std::string{board.source} + "\n";
}

}  // namespace orrery

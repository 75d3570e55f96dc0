// models/hardware/nvswitch_partitions.hpp -- the GPU partitions of an NVSwitch baseboard.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/machine.hpp"
#include "models/hardware/resources.hpp"

namespace orrery {

// Shared NVSwitch mode: a set of GPUs that can be connected by NVLink for one tenant. In this mode
// the Fabric Manager, not the tenant, manages the switches.
struct NvSwitchPartition {
  int32_t id = 0;
  GpuMask gpus = 0;   // bit i: the GPU with physical (module) id i + 1, whatever its PCI order
  int32_t links = 0;  // working NVLinks of each GPU in the partition
};

// Full passthrough: a virtual machine with `gpus` GPUs gets `nvswitches` NVSwitches, and each of
// its GPUs has `links` NVLinks.
struct PassthroughShape {
  int32_t gpus = 0, nvswitches = 0, links = 0;
};

struct NvSwitchBoard {
  std::string_view name, doc;
  int32_t gpus = 0, nvswitches = 0, links = 0;
  std::vector<NvSwitchPartition> partitions;  // partitions[i].id == i
  std::vector<PassthroughShape> passthrough;  // most GPUs first
  std::string_view source;

  // The partition of exactly these GPUs; null if there is no such partition.
  const NvSwitchPartition* find(GpuMask gpus_wanted) const;
};

std::span<const NvSwitchBoard> nvswitch_boards();                 // sorted by name
const NvSwitchBoard* find_nvswitch_board(std::string_view name);  // null: unknown
// The board with the machine's numbers of GPUs, NVSwitches and links; null if unknown.
const NvSwitchBoard* board_of(const Machine& machine);

// Responses of the Fabric Manager; the names are those of its interface.
enum class PartitionAnswer : uint8_t { Success, InUse, BadParam };
constexpr std::array<std::string_view, 3> enum_names(PartitionAnswer) {
  return {"FM_ST_SUCCESS", "FM_ST_IN_USE", "FM_ST_BADPARAM"};
}

// The partitions of one node's board that tenants hold. A GPU is in at most one of them.
class ActivePartitions {
 public:
  explicit ActivePartitions(const NvSwitchBoard& board) : board_{&board} {}

  // activate() returns BadParam if the board has no such partition, and InUse if a GPU of the
  // partition belongs to an active partition. deactivate() returns BadParam if the partition is not
  // active.
  [[nodiscard]] PartitionAnswer activate(int32_t id);
  [[nodiscard]] PartitionAnswer deactivate(int32_t id);
  bool is_active(int32_t id) const;
  // Ids of the partitions that have `gpus` GPUs and that activate() would accept now, ascending.
  std::vector<int32_t> available(int32_t gpus) const;
  GpuMask gpus_in_use() const { return in_use_; }

 private:
  const NvSwitchPartition* find(int32_t id) const;

  const NvSwitchBoard* board_;
  std::vector<int32_t> active_;  // sorted
  GpuMask in_use_ = 0;
};

// The GPUs of a mask by module id: "1-4,9-12".
std::string module_ids(GpuMask gpus);
// The board's partitions as text, with a line for each number of GPUs.
std::string partitions_text(const NvSwitchBoard& board);

}  // namespace orrery

#include "models/hardware/nvswitch_partitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "models/hardware/machine_catalogue.hpp"

namespace orrery {
namespace {

const NvSwitchBoard& board(std::string_view name) { return *find_nvswitch_board(name); }

TEST(NvSwitchBoard, EveryTableIsWellFormed) {
  for (const NvSwitchBoard& one : nvswitch_boards()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(find_nvswitch_board(one.name), &one);
    for (size_t i = 0; i < one.partitions.size(); ++i) {
      const NvSwitchPartition& partition = one.partitions[i];
      EXPECT_EQ(partition.id, static_cast<int32_t>(i));
      EXPECT_EQ(partition.gpus >> one.gpus, 0);
      EXPECT_EQ(one.find(partition.gpus), &partition) << "no set of GPUs is listed twice";
      EXPECT_EQ(partition.links == 0, std::popcount(partition.gpus) == 1);
      EXPECT_LE(partition.links, one.links);
    }
    for (int gpu = 0; gpu < one.gpus; ++gpu) {
      EXPECT_NE(one.find(static_cast<GpuMask>(1U << gpu)), nullptr) << "every GPU has its single";
    }
  }
}

TEST(NvSwitchBoard, MachinesOfTheCatalogueHaveTheBoardTheyAreBuiltOn) {
  const auto name_of_board = [](std::string_view machine) {
    const NvSwitchBoard* const found = board_of(*find_machine(machine));
    return found == nullptr ? std::string{"none"} : std::string{found->name};
  };
  EXPECT_EQ(name_of_board("dgx-2"), "hgx-2");
  EXPECT_EQ(name_of_board("dgx-a100"), "hgx-a100");
  EXPECT_EQ(name_of_board("dgx-h100"), "hgx-h100");
  EXPECT_EQ(name_of_board("hgx-h200"), "hgx-h100");
  EXPECT_EQ(name_of_board("dgx-b200"), "hgx-b200");
  EXPECT_EQ(name_of_board("dgx-1v"), "none");
  EXPECT_EQ(name_of_board("t4-2"), "none");
}

TEST(ActivePartitions, RefuseWhatOverlapsUntilItIsGivenBack) {
  ActivePartitions active{board("hgx-h100")};
  EXPECT_EQ(active.activate(3), PartitionAnswer::Success);  // partition 3: GPUs {1,3}
  EXPECT_EQ(active.activate(1), PartitionAnswer::InUse);    // partition 1: GPUs {1-4}
  EXPECT_EQ(active.activate(3), PartitionAnswer::InUse);    // partition 3 is active already
  EXPECT_EQ(active.activate(2), PartitionAnswer::Success);  // partition 2: GPUs {5-8}
  EXPECT_EQ(active.gpus_in_use(), 0b1111'0101);
  EXPECT_EQ(active.deactivate(3), PartitionAnswer::Success);
  EXPECT_EQ(active.deactivate(3), PartitionAnswer::BadParam);
  EXPECT_EQ(active.activate(1), PartitionAnswer::Success);
  EXPECT_TRUE(active.is_active(1));
  EXPECT_FALSE(active.is_active(3));
}

TEST(ActivePartitions, KnowNoIdsOutsideTheTable) {
  ActivePartitions active{board("hgx-h100")};
  EXPECT_EQ(active.activate(-1), PartitionAnswer::BadParam);
  EXPECT_EQ(active.activate(15), PartitionAnswer::BadParam);
  EXPECT_EQ(active.deactivate(15), PartitionAnswer::BadParam);
}

TEST(ActivePartitions, OfferOnlyWhatIsFree) {
  ActivePartitions active{board("hgx-b200")};
  EXPECT_EQ(active.available(4), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(active.activate(4), PartitionAnswer::Success);  // partition 4: GPUs {3,4}
  EXPECT_EQ(active.available(4), (std::vector<int32_t>{2}));
  EXPECT_EQ(active.available(2), (std::vector<int32_t>{3, 5, 6}));
  EXPECT_TRUE(active.available(8).empty());
  EXPECT_TRUE(active.available(3).empty()) << "no partition has three GPUs";
}

TEST(ModuleIds, AreWrittenAsRangesFromOne) {
  EXPECT_EQ(module_ids(0), "");
  EXPECT_EQ(module_ids(0b1), "1");
  EXPECT_EQ(module_ids(0b101), "1,3");
  EXPECT_EQ(module_ids(0b11), "1,2");
  EXPECT_EQ(module_ids(0x0F0F), "1-4,9-12");
  EXPECT_EQ(module_ids(0xFFFF), "1-16");
}

TEST(PartitionsText, TellsEverySizeOnALine) {
  const std::string text = partitions_text(board("hgx-h100"));
  EXPECT_NE(text.find("  8 GPUs, 18 NVLinks each:  0 {1-8}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  2 GPUs, 18 NVLinks each:  3 {1,3}  4 {2,4}  5 {5,7}  6 {6,8}\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  1 GPU, 0 NVLinks each:  7 {1}  8 {2}"), std::string::npos) << text;
}

}  // namespace
}  // namespace orrery

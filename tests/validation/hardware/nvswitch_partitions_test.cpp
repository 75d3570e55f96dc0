#include "models/hardware/nvswitch_partitions.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/core/enum_names.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "none" : text;
}

// The GPUs of each partition, as "{1-8} {1-4}". If `gpus` is not 0, only partitions with this
// number of GPUs are listed.
std::string partition_sets(const NvSwitchBoard& board, int gpus) {
  std::vector<std::string> sets;
  for (const NvSwitchPartition& partition : board.partitions) {
    if (gpus > 0 && std::popcount(partition.gpus) != gpus) continue;
    sets.push_back("{" + module_ids(partition.gpus) + "}");
  }
  return joined(sets);
}

std::string counts_by_size(const NvSwitchBoard& board) {
  std::vector<std::string> counts;
  for (int gpus = board.gpus; gpus > 0; --gpus) {
    int count = 0, links = 0;
    for (const NvSwitchPartition& partition : board.partitions) {
      if (std::popcount(partition.gpus) != gpus) continue;
      ++count;
      links = partition.links;
    }
    if (count == 0) continue;
    counts.push_back(std::to_string(count) + "x" + std::to_string(gpus) + "/" +
                     std::to_string(links));
  }
  return joined(counts);
}

int sets_refused(const NvSwitchBoard& board) {
  int refused = 0;
  for (uint32_t mask = 1; mask < 1U << board.gpus; ++mask) {
    if (board.find(static_cast<GpuMask>(mask)) == nullptr) ++refused;
  }
  return refused;
}

std::string hits_of_random_set(const NvSwitchBoard& board, int gpus) {
  int hits = 0, sets = 0;
  for (uint32_t mask = 1; mask < 1U << board.gpus; ++mask) {
    if (std::popcount(mask) != gpus) continue;
    ++sets;
    if (board.find(static_cast<GpuMask>(mask)) != nullptr) ++hits;
  }
  return std::to_string(hits) + " of " + std::to_string(sets);
}

std::string passthrough(const NvSwitchBoard& board, int gpus) {
  for (const PassthroughShape& shape : board.passthrough) {
    if (shape.gpus != gpus) continue;
    return std::to_string(shape.links) + " of " + std::to_string(board.links) + " links, " +
           std::to_string(shape.nvswitches) + " switches";
  }
  return "not offered";
}

std::string answers(const NvSwitchBoard& board, const json& ids) {
  ActivePartitions active{board};
  std::vector<std::string> words;
  for (int32_t id : ids) words.emplace_back(name_of(active.activate(id)));
  return joined(words);
}

// The sets of `gpus` GPUs whose partitions are available while the partitions `ids` are active.
std::string available(const NvSwitchBoard& board, const json& ids, int gpus) {
  ActivePartitions active{board};
  for (int32_t id : ids) EXPECT_EQ(active.activate(id), PartitionAnswer::Success);
  std::vector<std::string> sets;
  for (const int32_t id : active.available(gpus)) {
    sets.push_back("{" + module_ids(board.partitions[static_cast<size_t>(id)].gpus) + "}");
  }
  return joined(sets);
}

// The maximum number of partitions of `gpus` GPUs that can be active at once, over all orders of
// activation.
int most_at_once(const NvSwitchBoard& board, int gpus, ActivePartitions active) {
  int most = 0;
  for (const int32_t id : active.available(gpus)) {
    ActivePartitions next = active;
    EXPECT_EQ(next.activate(id), PartitionAnswer::Success);
    most = std::max(most, 1 + most_at_once(board, gpus, next));
  }
  return most;
}

json ours_in_nvswitch_partitions(const json& input) {
  const NvSwitchBoard* const board = find_nvswitch_board(input.at("board").get<std::string>());
  if (board == nullptr) return "unknown board";
  const auto quantity = input.at("quantity").get<std::string>();
  const int gpus = input.value("gpus", 0);
  if (quantity == "partition_sets") return partition_sets(*board, gpus);
  if (quantity == "partitions") return board->partitions.size();
  if (quantity == "counts_by_size") return counts_by_size(*board);
  if (quantity == "sets_refused") return sets_refused(*board);
  if (quantity == "random_set_is_a_partition") return hits_of_random_set(*board, gpus);
  if (quantity == "passthrough") return passthrough(*board, gpus);
  if (quantity == "answers") return answers(*board, input.at("activate"));
  if (quantity == "available") return available(*board, input.at("active"), gpus);
  if (quantity == "most_at_once") return most_at_once(*board, gpus, ActivePartitions{*board});
  return "unknown quantity";
}

TEST(NvSwitchPartitionsValidation, EveryCaseOfTheTableHolds) {
  test::check_cases("nvswitch_partitions.json", 30, ours_in_nvswitch_partitions);
}

}  // namespace
}  // namespace orrery

#include "models/control_plane/flow_control/shuffle_sharding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/support/starving_probability.hpp"

namespace orrery {
namespace {

TEST(ShuffleSharding, AHandHoldsNoQueueTwice) {
  const ShuffleSharding sharding{64, 6};
  for (uint64_t flow = 0; flow < 10'000; ++flow) {
    const ShuffleSharding::Hand hand = sharding.deal(flow_hash(flow));
    const std::set<uint16_t> queues(hand.begin(), hand.begin() + 6);
    EXPECT_EQ(queues.size(), 6U);
    EXPECT_LT(*queues.rbegin(), 64);
  }
}

TEST(ShuffleSharding, EachOrderedHandComesFromAsManyHashes) {
  const ShuffleSharding sharding{5, 3};
  std::map<std::vector<uint16_t>, int> hands;
  for (uint64_t hash = 0; hash < 5 * 4 * 3 * 10; ++hash) {
    const ShuffleSharding::Hand hand = sharding.deal(hash);
    ++hands[{hand.begin(), hand.begin() + 3}];
  }
  EXPECT_EQ(hands.size(), 60U);
  EXPECT_TRUE(std::ranges::all_of(hands, [](const auto& entry) { return entry.second == 10; }));
}

TEST(ShuffleSharding, TheWholeDeckCanBeDealt) {
  const ShuffleSharding sharding{16, 16};
  const ShuffleSharding::Hand hand = sharding.deal(0xFFFF'FFFF'FFFF'FFFF);
  EXPECT_EQ(std::set<uint16_t>(hand.begin(), hand.end()).size(), 16U);
}

TEST(ShuffleSharding, SixtyBitsAreEnoughForPublishedHands) {
  EXPECT_TRUE(has_enough_hashes(128, 6));
  EXPECT_TRUE(has_enough_hashes(1024, 6));
  EXPECT_FALSE(has_enough_hashes(1024, 7));
}

TEST(ShuffleSharding, NoFlowStarvesAloneAndAllWithOneQueue) {
  EXPECT_EQ(test::starving_probability(64, 6, 0), 0);
  EXPECT_DOUBLE_EQ(test::starving_probability(1, 1, 1), 1);
  EXPECT_DOUBLE_EQ(test::starving_probability(4, 1, 1), 0.25);
  EXPECT_DOUBLE_EQ(test::starving_probability(4, 1, 2), 1 - 0.75 * 0.75);
}

}  // namespace
}  // namespace orrery

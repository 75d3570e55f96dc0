#include "models/control_plane/flow_control/shuffle_sharding.hpp"

#include <cmath>

#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {
ShuffleSharding::ShuffleSharding(int32_t queues, int32_t hand) : queues_{queues}, hand_{hand} {
  ORRERY_CHECK(hand >= 1 && hand <= queues, "a hand has at least one queue, and no queue twice");
  ORRERY_CHECK(static_cast<size_t>(hand) <= kHandMax && queues <= UINT16_MAX,
               "a hand has at most 16 queues");
}

// The hash is a mixed-base number. Its i-th digit, in base queues_ - i, is an index into the
// ascending list of the queues that are not in the hand yet. `sorted` holds the queues in the hand.
ShuffleSharding::Hand ShuffleSharding::deal(uint64_t hash) const {
  Hand hand, sorted;
  for (int32_t i = 0; i < hand_; ++i) {
    const auto left = static_cast<uint64_t>(queues_ - i);
    auto queue = static_cast<uint16_t>(hash % left);
    hash /= left;
    int32_t at = 0;
    for (; at < i && sorted[static_cast<size_t>(at)] <= queue; ++at) ++queue;
    for (int32_t k = i; k > at; --k) {
      sorted[static_cast<size_t>(k)] = sorted[static_cast<size_t>(k - 1)];
    }
    sorted[static_cast<size_t>(at)] = queue;
    hand[static_cast<size_t>(i)] = queue;
  }
  return hand;
}

bool has_enough_hashes(int32_t queues, int32_t hand) {
  double bits = 0;
  for (int32_t i = 0; i < hand; ++i) bits += std::log2(static_cast<double>(queues - i));
  return bits <= 60;
}

uint64_t flow_hash(uint64_t flow) { return draw_of(flow, 0); }

}  // namespace orrery

// models/control_plane/flow_control/shuffle_sharding.hpp -- a hand of queues for each
// flow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery {

// Deals `hand` distinct of `queues` queues to a flow, by its hash alone: each of the ordered hands
// comes from as many hashes as any other, but for one in 2^64 / queues^hand.
class ShuffleSharding {
 public:
  static constexpr size_t kHandMax = 16;
  using Hand = std::array<uint16_t, kHandMax>;

  ShuffleSharding(int32_t queues, int32_t hand);
  // The first hand() entries are valid.
  Hand deal(uint64_t hash) const;
  int32_t hand() const { return hand_; }

 private:
  int32_t queues_, hand_;
};

// Whether 60 bits of hash tell all ordered hands apart.
bool has_enough_hashes(int32_t queues, int32_t hand);

// Spreads flow numbers that are near each other over all hashes.
uint64_t flow_hash(uint64_t flow);

}  // namespace orrery

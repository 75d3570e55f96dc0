// models/control_plane/flow_control/shuffle_sharding.hpp -- a hand of queues for each flow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery {

// Deals each flow a hand: distinct queues that depend only on the flow's hash. Example: 4
// queues, hands of 2, hash 7. 7 mod 4 = 3 picks queue 3. Then 7 / 4 = 1, and 1 mod 3 = 1 picks
// queue 1 of the remaining queues 0, 1 and 2. Each ordered hand comes from nearly the same number
// of hashes.
class ShuffleSharding {
 public:
  static constexpr size_t kHandMax = 16;
  using Hand = std::array<uint16_t, kHandMax>;

  ShuffleSharding(int32_t queues, int32_t hand);
  // Returns the flow's queues, in the first hand() entries.
  Hand deal(uint64_t hash) const;
  int32_t hand() const { return hand_; }

 private:
  int32_t queues_, hand_;
};

// Whether 60 bits of hash distinguish all ordered hands.
bool has_enough_hashes(int32_t queues, int32_t hand);

// Spreads adjacent flow numbers over all hashes.
uint64_t flow_hash(uint64_t flow);

}  // namespace orrery

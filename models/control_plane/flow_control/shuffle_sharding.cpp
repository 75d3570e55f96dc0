#include "models/control_plane/flow_control/shuffle_sharding.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {
namespace {

// C(n, k), exact as long as it is below 2^53.
double choose(int32_t n, int32_t k) {
  if (k < 0 || k > n) return 0;
  double ways = 1;
  for (int32_t i = 1; i <= k; ++i) ways = ways * (n - k + i) / i;
  return ways;
}

}  // namespace

ShuffleSharding::ShuffleSharding(int32_t queues, int32_t hand) : queues_{queues}, hand_{hand} {
  ORRERY_CHECK(hand >= 1 && hand <= queues, "a hand has at least one queue, and no queue twice");
  ORRERY_CHECK(static_cast<size_t>(hand) <= kHandMax && queues <= UINT16_MAX, "a hand has room");
}

// The hash is read as a number of mixed base: its i-th digit, below Q - i, says how many of the
// queues that are not in the hand yet come before the i-th one. `sorted` holds those that are.
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

double starving_probability(int32_t queues, int32_t hand, int32_t heavy_flows) {
  ORRERY_CHECK(hand >= 1 && hand <= queues && heavy_flows >= 0, "as of a level");
  const double hands = choose(queues, hand);
  std::vector<double> covered(static_cast<size_t>(queues) + 1), next;  // P(U_n = k)
  covered[0] = 1;
  for (int32_t n = 0; n < heavy_flows; ++n) {
    next.assign(covered.size(), 0);
    for (int32_t k = 0; k <= std::min(queues, n * hand); ++k) {
      const double chance = covered[static_cast<size_t>(k)] / hands;
      for (int32_t j = 0; j <= std::min(hand, queues - k); ++j) {
        next[static_cast<size_t>(k + j)] += chance * choose(queues - k, j) * choose(k, hand - j);
      }
    }
    covered.swap(next);
  }
  double starved = 0;
  for (int32_t k = hand; k <= queues; ++k) {
    starved += covered[static_cast<size_t>(k)] * choose(k, hand) / hands;
  }
  return starved;
}

}  // namespace orrery

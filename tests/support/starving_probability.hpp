// tests/support/starving_probability.hpp -- the probability that flows starve one another, in
// closed form.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::test {

// C(n, k), exact while every product in the loop is below 2^53.
inline double choose(int32_t n, int32_t k) {
  if (k < 0 || k > n) return 0;
  double ways = 1;
  for (int32_t i = 1; i <= k; ++i) ways = ways * (n - k + i) / i;
  return ways;
}

// The probability that a light flow shares every queue of its hand with heavy flows. A hand has H
// of the Q queues. U_n is the number of queues that n heavy flows use.
//   P(U_n = m) = sum_k P(U_(n-1) = k) C(Q-k, m-k) C(k, H-m+k) / C(Q, H),
//   P(starved) = sum_k P(U_n = k) C(k, H) / C(Q, H).
inline double starving_probability(int32_t queues, int32_t hand, int32_t heavy_flows) {
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

}  // namespace orrery::test

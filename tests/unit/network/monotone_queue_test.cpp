#include "models/network/sharing/monotone_queue.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

// A random sequence of pushes and pops. No key is lower than the last popped one, and many keys are
// equal.
TEST(MonotoneQueue, TakesKeysInOrderAndLosesNone) {
  Rng rng{1};
  MonotoneQueue queue;
  for (int round = 0; round < 20; ++round) {
    queue.restart();
    std::multimap<double, uint32_t> expected;
    double last = 0;
    for (uint32_t i = 0; i < 5000 || !expected.empty(); ++i) {
      if (i < 5000 && rng.below(5) < 3) {
        const double steps[] = {0, 1, rng.uniform(), 1e12 * rng.uniform()};
        const double key =
            rng.below(99) == 0 ? std::numeric_limits<double>::infinity() : last + steps[i % 4];
        queue.push(key, i);
        expected.emplace(key, i);
      } else if (!expected.empty()) {
        const MonotoneQueue::Item item = queue.pop();
        ASSERT_EQ(item.key, expected.begin()->first);
        auto [same, end] = expected.equal_range(item.key);
        while (same != end && same->second != item.value) ++same;
        ASSERT_NE(same, end) << "a value that is there";
        expected.erase(same);
        last = item.key < 1e300 ? item.key : last;
        if (item.key > 1e300) break;  // the queue holds only infinite keys now
      }
    }
    while (!queue.empty()) queue.pop();
  }
}

}  // namespace
}  // namespace orrery

#include "sim/engine/rank_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

struct Batch {
  alignas(64) std::array<uint64_t, 128> keys;
  std::array<uint64_t, 128> values;
};

TEST(RankSort, IsStableAndEqualInEveryVariant) {
  Rng rng{7};
  for (size_t size = 0; size <= 128; ++size) {
    for (const uint64_t distinct : {1u, 4u, 1u << 30}) {
      Batch input{};
      for (size_t i = 0; i < size; ++i) {
        input.keys[i] = rng.below(distinct) << 32;
        input.values[i] = i;
      }
      std::array<size_t, 128> order;
      for (size_t i = 0; i < size; ++i) order[i] = i;
      const auto end = order.begin() + static_cast<ptrdiff_t>(size);
      std::stable_sort(order.begin(), end,
                       [&](size_t a, size_t b) { return input.keys[a] < input.keys[b]; });
      for (const RankSort sort : {best_rank_sort(), rank_sort_portable}) {
        Batch batch = input;
        Batch sorted{};
        sort({batch.keys.data(), batch.values.data(), size}, sorted.keys.data(),
             sorted.values.data());
        for (size_t i = 0; i < size; ++i) {
          ASSERT_EQ(sorted.values[i], order[i]) << "size " << size;
          ASSERT_EQ(sorted.keys[i], input.keys[order[i]]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery

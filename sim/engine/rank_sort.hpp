// sim/engine/rank_sort.hpp -- sorts a few dozen keys. The position of a key is the number of keys
// that sort before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

struct RankSortInput {
  // Each key is less than 2^63. The array is aligned to 64 bytes, and has room for padding to a
  // multiple of 8 keys.
  uint64_t* keys;
  const uint64_t* values;
  size_t size;
};

// Writes the sorted keys to `keys` and their values to `values`. The sort is stable: equal keys
// keep their order, so every variant gives the same result. The position of a key is the number of
// smaller keys plus the number of equal keys before it. Example: keys 7 3 7 get positions 1, 0 and
// 2. No branch depends on the keys, so none is mispredicted.
using RankSort = void (*)(const RankSortInput& input, uint64_t* keys, uint64_t* values);

void rank_sort_portable(const RankSortInput& input, uint64_t* keys, uint64_t* values);
RankSort best_rank_sort();  // the fastest variant that this processor runs

}  // namespace orrery

// sim/engine/rank_sort.hpp -- sorts a few dozen keys by counting, for each key, how many precede
// it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

struct RankSortInput {
  uint64_t* keys;  // each < 2^63; array: 64-byte aligned, room for padding to a multiple of 8 keys
  const uint64_t* values;
  size_t size;
};

// The sort is stable: equal keys keep their order, so every variant gives the same result. No
// branch depends on the keys, so none is mispredicted. Example: keys 7 3 7 have 1, 0 and 2
// predecessors: these are their positions.
using RankSort = void (*)(const RankSortInput& input, uint64_t* keys, uint64_t* values);

void rank_sort_portable(const RankSortInput& input, uint64_t* keys, uint64_t* values);
RankSort best_rank_sort();  // the fastest variant that this processor runs

}  // namespace orrery

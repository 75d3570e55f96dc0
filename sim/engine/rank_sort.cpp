#include "sim/engine/rank_sort.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace orrery {
namespace {

[[gnu::always_inline]] inline void count_ranks(const RankSortInput& input, uint64_t* keys,
                                               uint64_t* values) {
  const uint64_t* const from = input.keys;
  for (size_t i = 0; i < input.size; ++i) {
    const uint64_t key = from[i];
    uint64_t rank = 0;
    for (size_t j = 0; j < i; ++j) rank += from[j] <= key ? 1 : 0;
    for (size_t j = i + 1; j < input.size; ++j) rank += from[j] < key ? 1 : 0;
    keys[rank] = key;
    values[rank] = input.values[i];
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void rank_sort_avx2(const RankSortInput& input, uint64_t* keys,
                                                    uint64_t* values) {
  count_ranks(input, keys, values);
}

// Sorts at most 8 * kVectors keys, all of which stay in registers.
template <size_t kVectors>
__attribute__((target("avx512f,popcnt"))) void rank_sort_in_registers(const RankSortInput& input,
                                                                      uint64_t* keys,
                                                                      uint64_t* values) {
  __m512i all[kVectors];
  const uint64_t present = (uint64_t{1} << input.size) - 1;
  for (size_t v = 0; v < kVectors; ++v) {
    const auto mask = static_cast<__mmask8>(present >> 8 * v);
    all[v] = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), mask, input.keys + 8 * v);
  }
  for (size_t i = 0; i < input.size; ++i) {
    const __m512i key = _mm512_set1_epi64(static_cast<int64_t>(input.keys[i]));
    unsigned less = 0;
    unsigned equal = 0;
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      less |= unsigned{_mm512_cmplt_epu64_mask(all[v], key)} << 8 * v;
      equal |= unsigned{_mm512_cmpeq_epu64_mask(all[v], key)} << 8 * v;
    }
    const unsigned earlier = (1u << i) - 1;
    const auto rank = static_cast<unsigned>(__builtin_popcount(less | (equal & earlier)));
    keys[rank] = input.keys[i];
    values[rank] = input.values[i];
  }
}

__attribute__((target("avx512f,popcnt"))) void rank_sort_avx512(const RankSortInput& input,
                                                                uint64_t* keys, uint64_t* values) {
  // Only two variants of rank_sort_in_registers, so that the branch is easy to predict.
  if (input.size <= 16) return rank_sort_in_registers<2>(input, keys, values);
  if (input.size <= 32) return rank_sort_in_registers<4>(input, keys, values);
  const size_t vectors = (input.size + 7) / 8;
  for (size_t i = input.size; i < vectors * 8; ++i) input.keys[i] = UINT64_MAX;
  for (size_t i = 0; i < input.size; ++i) {
    const __m512i key = _mm512_set1_epi64(static_cast<int64_t>(input.keys[i]));
    const size_t own = i / 8;
    int rank = 0;
    for (size_t v = 0; v < own; ++v) {
      rank +=
          __builtin_popcount(_mm512_cmple_epu64_mask(_mm512_load_si512(input.keys + 8 * v), key));
    }
    const __m512i beside = _mm512_load_si512(input.keys + 8 * own);
    const unsigned earlier = (1u << (i % 8)) - 1;
    rank += __builtin_popcount(_mm512_cmplt_epu64_mask(beside, key) |
                               (_mm512_cmpeq_epu64_mask(beside, key) & earlier));
    for (size_t v = own + 1; v < vectors; ++v) {
      rank +=
          __builtin_popcount(_mm512_cmplt_epu64_mask(_mm512_load_si512(input.keys + 8 * v), key));
    }
    keys[rank] = input.keys[i];
    values[rank] = input.values[i];
  }
}

#endif

}  // namespace

void rank_sort_portable(const RankSortInput& input, uint64_t* keys, uint64_t* values) {
  count_ranks(input, keys, values);
}

RankSort best_rank_sort() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt")) {
    return rank_sort_avx512;
  }
  if (__builtin_cpu_supports("avx2")) return rank_sort_avx2;
#endif
  return rank_sort_portable;
}

}  // namespace orrery

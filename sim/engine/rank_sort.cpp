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

// Up to 32 keys stay in four registers while every key is compared with all of them.
__attribute__((target("avx512f,popcnt"))) void rank_sort_in_registers(const RankSortInput& input,
                                                                      uint64_t* keys,
                                                                      uint64_t* values) {
  const __m512i last = _mm512_set1_epi64(-1);
  const size_t size = input.size;
  const __m512i a = _mm512_load_si512(input.keys);
  const __m512i b = size > 8 ? _mm512_load_si512(input.keys + 8) : last;
  const __m512i c = size > 16 ? _mm512_load_si512(input.keys + 16) : last;
  const __m512i d = size > 24 ? _mm512_load_si512(input.keys + 24) : last;
  for (size_t i = 0; i < size; ++i) {
    const __m512i key = _mm512_set1_epi64(static_cast<int64_t>(input.keys[i]));
    const auto join = [](unsigned w, unsigned x, unsigned y, unsigned z) {
      return w | x << 8 | y << 16 | z << 24;
    };
    const unsigned less = join(_mm512_cmplt_epu64_mask(a, key), _mm512_cmplt_epu64_mask(b, key),
                               _mm512_cmplt_epu64_mask(c, key), _mm512_cmplt_epu64_mask(d, key));
    const unsigned equal = join(_mm512_cmpeq_epu64_mask(a, key), _mm512_cmpeq_epu64_mask(b, key),
                                _mm512_cmpeq_epu64_mask(c, key), _mm512_cmpeq_epu64_mask(d, key));
    const unsigned earlier = (1u << i) - 1;
    const auto rank = static_cast<unsigned>(__builtin_popcount(less | (equal & earlier)));
    keys[rank] = input.keys[i];
    values[rank] = input.values[i];
  }
}

__attribute__((target("avx512f,popcnt"))) void rank_sort_avx512(const RankSortInput& input,
                                                                uint64_t* keys, uint64_t* values) {
  const size_t vectors = (input.size + 7) / 8;
  for (size_t i = input.size; i < vectors * 8; ++i) input.keys[i] = UINT64_MAX;
  if (vectors <= 4) return rank_sort_in_registers(input, keys, values);
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

// sim/core/scatter.hpp -- SplitMix64: pseudo-random numbers with random access.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery {

// Every bit of the result depends on every bit of `x`.
constexpr uint64_t scattered(uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

// The random number at position `number`, from 0, in the stream with this seed.
constexpr uint64_t draw_of(uint64_t seed, uint64_t number) {
  return scattered(seed + (number + 1) * 0x9E3779B97F4A7C15U);
}

// The FNV-1a hash of a name.
constexpr uint64_t name_hash(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  return hash;
}

}  // namespace orrery

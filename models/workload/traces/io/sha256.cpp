#include "models/workload/traces/io/sha256.hpp"

#include <algorithm>
#include <bit>

#include "models/workload/traces/io/decompressor.hpp"
#include "sim/core/int128.hpp"

namespace orrery::traces {
namespace {

constexpr size_t kBlock = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
std::array<uint32_t, 64> round_constants() {
  std::array<uint32_t, 64> constants{};
  size_t count = 0;
  for (uint64_t candidate = 2; count < constants.size(); ++candidate) {
    bool is_prime = true;
    for (uint64_t d = 2; d * d <= candidate; ++d) is_prime = is_prime && candidate % d != 0;
    if (!is_prime) continue;
    // The cube root times 2^32, rounded down: the greatest x with x^3 <= candidate * 2^96.
    uint128_t root = 0;
    for (int bit = 35; bit >= 0; --bit) {
      const uint128_t larger = root | (static_cast<uint128_t>(1) << bit);
      if (larger * larger * larger <= static_cast<uint128_t>(candidate) << 96U) root = larger;
    }
    constants[count++] = static_cast<uint32_t>(root);
  }
  return constants;
}

uint32_t big_endian(const char* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(at[i]);
  return value;
}

}  // namespace

void Sha256::add_block(const char* block) {
  static const std::array<uint32_t, 64> kConstants = round_constants();
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3U;
    const uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10U;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  std::array<uint32_t, 8> s = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t e = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const uint32_t t = s[7] + e + choice + kConstants[i] + w[i];
    const uint32_t a = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    s = {t + a + majority, s[0], s[1], s[2], s[3] + t, s[4], s[5], s[6]};
  }
  for (size_t i = 0; i < 8; ++i) state_[i] += s[i];
}

void Sha256::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t held = size_ % kBlock;
    const size_t count = std::min(bytes.size(), kBlock - held);
    std::copy_n(bytes.data(), count, rest_.data() + held);
    size_ += count;
    bytes.remove_prefix(count);
    if (size_ % kBlock == 0) add_block(rest_.data());
  }
}

std::string Sha256::hex() {
  const uint64_t bits = size_ * 8;
  std::string padding(1, '\x80');
  while ((size_ + padding.size()) % kBlock != kBlock - 8) padding += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    padding += static_cast<char>(bits >> static_cast<unsigned>(shift));
  }
  add(padding);
  std::string text;
  for (const uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      text += "0123456789abcdef"[word >> static_cast<unsigned>(shift) & 15U];
    }
  }
  return text;
}

std::optional<std::string> sha256_of_file(const std::string& path) {
  StoredBytes stored{path};
  Sha256 digest;
  for (std::string_view block; !(block = stored.peek()).empty(); stored.take(block.size())) {
    digest.add(block);
  }
  if (!stored.complaint().empty()) return {};
  return digest.hex();
}

}  // namespace orrery::traces

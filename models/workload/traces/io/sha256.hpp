// models/workload/traces/io/sha256.hpp -- SHA-256 of a file, as printed by sha256sum.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::traces {

// The algorithm of FIPS 180-4.
class Sha256 {
 public:
  void add(std::string_view bytes);
  std::string hex();  // call once, after the last add()

 private:
  void add_block(const char* block);

  std::array<uint32_t, 8> state_{0x6A09E667U, 0xBB67AE85U, 0x3C6EF372U, 0xA54FF53AU,
                                 0x510E527FU, 0x9B05688CU, 0x1F83D9ABU, 0x5BE0CD19U};
  std::array<char, 64> rest_{};
  uint64_t size_ = 0;
};

std::optional<std::string> sha256_of_file(const std::string& path);  // empty: unreadable

}  // namespace orrery::traces

// models/workload/traces/io/tar.hpp -- the file that a tar archive holds, as it is unpacked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "models/workload/traces/io/decompressor.hpp"

namespace orrery::traces {

// Whether a text begins like a tar archive: of the POSIX kind, which GNU's is too, or, given its
// first 512 bytes, of the kind before it.
bool is_tar(std::string_view head);

// Gives the content of the only file in the archive; a second one is a complaint. What is no
// archive passes through as it is, since only its unpacked beginning tells.
class TarFile final : public Decompressor {
 public:
  // `packing`: how the archive itself is packed; null: it is not.
  explicit TarFile(std::unique_ptr<Decompressor> packing) : packing_{std::move(packing)} {}
  size_t read(StoredBytes& input, std::span<char> out) override;
  static constexpr size_t kBlock = 512;

 private:
  enum class State : uint8_t { Start, Header, Content, Skip, Over, Plain };

  size_t fetch(StoredBytes& input, std::span<char> out);
  bool fill_block(StoredBytes& input);
  void read_header();
  void finish();
  size_t read_content(StoredBytes& input, std::span<char> out);
  void skip(StoredBytes& input);
  size_t pass_through(StoredBytes& input, std::span<char> out);

  std::unique_ptr<Decompressor> packing_;
  State state_ = State::Start;
  std::array<char, kBlock> block_{};
  size_t held_ = 0;       // bytes of block_
  size_t given_ = 0;      // of them, when they are passed through
  uint64_t left_ = 0;     // of the content or of what is skipped
  uint64_t padding_ = 0;  // after the content
  bool has_file_ = false;
};

}  // namespace orrery::traces

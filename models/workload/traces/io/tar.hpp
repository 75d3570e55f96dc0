// models/workload/traces/io/tar.hpp -- streams the only file of a tar archive.
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

// Whether `head` begins like a tar archive in the POSIX or GNU format. The older format, from
// before POSIX, is recognised only if `head` has at least 512 bytes.
bool is_tar(std::string_view head);

// Streams the content of the only file in the archive. A second file is an error. If the
// decompressed input is not a tar archive, it passes through unchanged.
class TarFile final : public Decompressor {
 public:
  // `packing` decompresses the archive; null: the archive is not compressed.
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
  size_t held_ = 0;       // bytes in block_
  size_t given_ = 0;      // bytes of block_ that were returned already
  uint64_t left_ = 0;     // bytes left of the content, or of skipped data
  uint64_t padding_ = 0;  // bytes of padding after the content
  bool has_file_ = false;
};

}  // namespace orrery::traces

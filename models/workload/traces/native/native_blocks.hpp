// models/workload/traces/native/native_blocks.hpp -- the frame of Orrery's binary files: facts,
// then blocks of varints.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/workload/traces/io/findings.hpp"
#include "models/workload/traces/io/string_pool.hpp"
#include "models/workload/traces/io/text_source.hpp"
#include "models/workload/traces/native/native_layout.hpp"
#include "sim/core/time.hpp"

namespace orrery::traces::native {

// Layout of a file, with little-endian integers: eight bytes of magic, the length of the facts
// (u32), and the facts as lines `key: value`. Then come blocks. A block is a header and the bytes
// of its items. The header holds the number of bytes (u32), the number of items (u32) and the
// checksum of the bytes (u64). The file ends with a header of 0 bytes and 0 items. In place
// of the checksum, this header holds the number of all items in the file. An item consists of
// varints and texts. put_text() numbers the texts of the file: the first use of a text writes its
// number and the text, and later uses write only the number.
class BlockWriter {
 public:
  using Fact = std::pair<std::string, std::string>;

  // Writes to a temporary file beside `path`; finish() moves this file to `path`. Facts must not
  // have line ends.
  BlockWriter(std::string path, std::string_view magic, const std::vector<Fact>& facts);
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;
  ~BlockWriter();  // removes an unfinished file

  void put(uint64_t value);
  void put_signed(int64_t value);
  void put_span(int64_t ns);
  void put_text(std::string_view text);  // for columns with few different texts
  void put_raw(std::string_view text);   // for columns with many different texts
  void end_item();
  // Returns false if the file could not be written; error() says why.
  [[nodiscard]] bool finish();
  const std::string& error() const { return error_; }
  int64_t items() const { return items_; }

 private:
  void flush_block();

  std::string path_, part_;
  std::ofstream out_;
  std::string block_;
  uint32_t block_items_ = 0;
  int64_t items_ = 0;
  std::map<std::string, uint64_t, std::less<>> texts_;
  bool is_finished_ = false;
  std::string error_;
};

// Reads files of BlockWriter. Anything that the writer cannot have written ends the reading.
class BlockReader {
 public:
  using Fact = BlockWriter::Fact;

  // `noun` is the name of an item in messages.
  BlockReader(TextSource source, std::string_view magic, std::string_view noun, Findings& findings,
              StringPool& pool);

  // Returns false at the end of the file, or where the file is damaged.
  bool begin_item() { return !findings_.is_stopped() && (block_items_ > 0 || next_block()); }
  // Returns false if a part of the item was wrong. The reading then ends.
  bool end_item();
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == block_.size()) break;
      const auto byte = static_cast<unsigned char>(block_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    is_bad_ = true;
    return 0;
  }
  int64_t integer(int64_t low, int64_t high) {
    const uint64_t value = varint();
    if (value <= static_cast<uint64_t>(high) && static_cast<int64_t>(value) >= low) {
      return static_cast<int64_t>(value);
    }
    is_bad_ = true;
    return low;
  }
  int64_t signed_integer() { return unzigzag(varint()); }
  Duration span() {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    const uint64_t value = varint();
    if (value == 1) return Duration{integer(0, kMax)};
    if ((value & 1U) != 0 || value > static_cast<uint64_t>(kMax / kSecond) * 2) is_bad_ = true;
    return Duration{is_bad_ ? 0 : static_cast<int64_t>(value >> 1U) * kSecond};
  }
  std::string_view raw(size_t length_max);  // valid until the next item
  std::string_view text();                  // valid as long as the pool
  void refuse() { is_bad_ = true; }         // call for values that the writer cannot have written
  bool is_bad() const { return is_bad_; }
  const std::vector<Fact>& facts() const { return facts_; }

 private:
  void damaged(const std::string& what);
  bool fill(size_t count);  // reads the next bytes of the file into block_
  void read_facts(std::string_view magic);
  bool next_block();

  TextSource source_;
  std::string noun_;
  Findings& findings_;
  StringPool& pool_;
  std::string_view stored_;  // bytes read from the source and not used yet
  std::string block_;
  size_t at_ = 0;
  bool is_bad_ = false;
  uint32_t block_items_ = 0;
  int64_t items_ = 0;
  std::vector<std::string_view> texts_;
  std::vector<Fact> facts_;
};

}  // namespace orrery::traces::native

#include "models/workload/traces/native/native_blocks.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "models/workload/traces/native/native_layout.hpp"
#include "sim/core/check.hpp"

namespace orrery::traces::native {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace

BlockWriter::BlockWriter(std::string path, std::string_view magic, const std::vector<Fact>& facts)
    : path_{std::move(path)}, part_{path_ + ".part"}, out_{part_, std::ios::binary} {
  std::string text;
  for (const auto& [key, value] : facts) text += key + ": " + value + "\n";
  ORRERY_CHECK(text.size() <= kFactsMax, "the reader refuses longer facts");
  out_ << magic << bytes_of(static_cast<uint32_t>(text.size())) << text;
  if (!out_) error_ = part_ + ": cannot be written: " + std::generic_category().message(errno);
}

BlockWriter::~BlockWriter() {
  if (is_finished_) return;
  std::error_code ignored;  // a missing file is fine
  std::filesystem::remove(part_, ignored);
}

void BlockWriter::put(uint64_t value) {
  while (value >= 0x80) {
    block_ += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  block_ += static_cast<char>(value);
}

void BlockWriter::put_signed(int64_t value) { put(zigzag(value)); }

// Whole seconds are stored as one varint: twice the seconds. Any other span is stored as the varint
// 1, then the nanoseconds. Example: 3 s are stored as 6, and 1.5 s as 1 and 1500000000.
void BlockWriter::put_span(int64_t ns) {
  if (ns % kSecond == 0) return put(static_cast<uint64_t>(ns / kSecond) << 1U);
  put(1);
  put(static_cast<uint64_t>(ns));
}

void BlockWriter::put_raw(std::string_view text) {
  put(text.size());
  block_ += text;
}

void BlockWriter::put_text(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return put(known->second);
  ORRERY_CHECK(text.size() <= kTextMax, "the reader refuses longer texts");
  put(texts_.size());
  put_raw(text);
  texts_.emplace(text, texts_.size());
}

void BlockWriter::end_item() {
  ++block_items_;
  ++items_;
  if (block_.size() >= kBlockBytes) flush_block();
}

void BlockWriter::flush_block() {
  if (block_items_ == 0) return;
  out_ << bytes_of(static_cast<uint32_t>(block_.size())) << bytes_of(block_items_)
       << bytes_of(checksum(block_)) << block_;
  block_.clear();
  block_items_ = 0;
}

bool BlockWriter::finish() {
  flush_block();
  out_ << bytes_of(uint32_t{0}) << bytes_of(uint32_t{0}) << bytes_of(static_cast<uint64_t>(items_));
  out_.flush();
  if (error_.empty() && !out_) {
    error_ = part_ + ": cannot be written: " + std::generic_category().message(errno);
  }
  out_.close();
  std::error_code error;
  if (error_.empty()) std::filesystem::rename(part_, path_, error);
  if (error) error_ = path_ + ": cannot be written: " + error.message();
  is_finished_ = error_.empty();
  return is_finished_;
}

BlockReader::BlockReader(TextSource source, std::string_view magic, std::string_view noun,
                         Findings& findings, StringPool& pool)
    : source_{std::move(source)}, noun_{noun}, findings_{findings}, pool_{pool} {
  read_facts(magic);
}

void BlockReader::damaged(const std::string& what) {
  findings_.stop(source_.error().value_or(findings_.file() + ": the native trace is damaged at " +
                                          noun_ + " " + std::to_string(items_) + ": " + what));
}

bool BlockReader::end_item() {
  --block_items_;
  ++items_;
  if (!is_bad_ && (block_items_ > 0 || at_ == block_.size())) return true;
  damaged("a " + noun_ + " is not as it was written");
  return false;
}

std::string_view BlockReader::raw(size_t length_max) {
  const uint64_t length = varint();
  if (length > length_max || length > block_.size() - at_) {
    is_bad_ = true;
    return {};
  }
  at_ += length;
  return std::string_view{block_}.substr(at_ - length, length);
}

std::string_view BlockReader::text() {
  const uint64_t index = varint();
  if (index < texts_.size()) return texts_[index];
  const auto pooled = index == texts_.size() ? pool_.intern(raw(kTextMax)) : std::nullopt;
  if (!pooled) {
    is_bad_ = true;
    return {};
  }
  texts_.push_back(*pooled);
  return *pooled;
}

bool BlockReader::fill(size_t count) {
  block_.clear();
  at_ = 0;
  while (block_.size() < count) {
    if (stored_.empty()) stored_ = source_.next_block();
    if (stored_.empty()) return false;
    const size_t some = std::min(stored_.size(), count - block_.size());
    block_.append(stored_.substr(0, some));
    stored_.remove_prefix(some);
  }
  return true;
}

void BlockReader::read_facts(std::string_view magic) {
  uint32_t length = 0;
  if (!fill(magic.size() + sizeof length) || !block_.starts_with(magic)) {
    findings_.stop(source_.error().value_or(findings_.file() + ": this is no native trace"));
    return;
  }
  std::memcpy(&length, block_.data() + magic.size(), sizeof length);
  if (length > kFactsMax || !fill(length)) return damaged("its facts are cut");
  for (std::string_view rest = block_; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return damaged("a fact has no name");
    facts_.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
}

bool BlockReader::next_block() {
  struct Header {
    uint32_t bytes = 0;
    uint32_t items = 0;
    uint64_t sum = 0;
  } header;
  static_assert(sizeof header == kBlockHeader);
  if (!fill(kBlockHeader)) {
    damaged("it ends too early");
    return false;
  }
  std::memcpy(&header, block_.data(), sizeof header);
  if (header.bytes == 0 && header.items == 0) {
    if (header.sum != static_cast<uint64_t>(items_)) damaged(noun_ + "s are missing");
    if (!stored_.empty() || !source_.next_block().empty()) damaged("it is followed by something");
    return false;
  }
  const bool is_cut = header.bytes > kBlockBytesMax || header.items == 0 || !fill(header.bytes);
  if (is_cut || checksum(block_) != header.sum) {
    damaged(is_cut ? "a block is cut" : "a checksum does not fit");
    return false;
  }
  block_items_ = header.items;
  return true;
}

}  // namespace orrery::traces::native

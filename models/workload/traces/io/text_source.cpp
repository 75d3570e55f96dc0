#include "models/workload/traces/io/text_source.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "models/workload/traces/io/decompressor.hpp"
#include "models/workload/traces/io/tar.hpp"
#include "sim/core/shared_files.hpp"

namespace orrery::traces {
namespace {

constexpr size_t kBuffer = 2 * StoredBytes::kBlock;
static_assert(kBuffer > TextSource::kLineMax + StoredBytes::kBlock);

constexpr size_t kSharedMax = size_t{256} << 20U;  // bytes of unpacked text

// Returns the whole text; nullopt if the text is too large to share, or if reading fails. After
// nullopt, each reader reads the file itself and reports any error.
std::optional<std::string> whole_text(TextSource source) {
  std::string text;
  for (std::string_view block = source.next_block(); !block.empty(); block = source.next_block()) {
    if (text.size() + block.size() > kSharedMax) return {};
    text += block;
  }
  return source.error() ? std::nullopt : std::optional{std::move(text)};
}

}  // namespace

TextSource TextSource::open_file(const std::string& path) {
  static SharedFiles<std::optional<std::string>> texts;
  InputFiles::note(path);
  const auto from_disk = [](const std::string& file) {
    return TextSource{file, std::make_unique<StoredBytes>(file)};
  };
  if (!FileSharing::is_on()) return from_disk(path);
  auto text = texts.get(path, [&](const std::string& file) { return whole_text(from_disk(file)); });
  if (!*text) return from_disk(path);
  TextSource source{path, std::make_unique<StoredBytes>(std::string_view{**text})};
  source.shared_ = std::move(text);
  return source;
}

std::optional<TextSource> TextSource::open_beside(const std::string& path,
                                                  const std::string& stem) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path{path}.parent_path();
  for (const fs::path& place : {folder, folder / ".."}) {
    const std::string unpacked = stem.substr(0, stem.rfind('.'));  // x.csv may be in x.tar.gz
    for (const std::string& name :
         {stem, stem + ".gz", stem + ".xz", unpacked + ".tar.gz", unpacked + ".tar.xz"}) {
      const fs::path file = place / name;
      std::error_code error;  // an inaccessible file is treated as missing
      if (fs::is_regular_file(file, error)) return open_file(file.string());
    }
  }
  return {};
}

TextSource TextSource::from_memory(std::string_view text, std::string name) {
  return {std::move(name), std::make_unique<StoredBytes>(text)};
}

TextSource::TextSource(std::string name, std::unique_ptr<StoredBytes> input)
    : name_{std::move(name)}, input_{std::move(input)} {
  const std::string_view head = input_->peek();
  if (!input_->complaint().empty()) {
    error_ = name_ + ": " + input_->complaint();
    return;
  }
  buffer_ = std::make_unique_for_overwrite<char[]>(kBuffer);
  decompressor_ = decompressor_for(head);
  if (decompressor_ || is_tar(head)) {
    decompressor_ = std::make_unique<TarFile>(std::move(decompressor_));
  }
}

TextSource::TextSource(TextSource&&) noexcept = default;
TextSource& TextSource::operator=(TextSource&&) noexcept = default;
TextSource::~TextSource() = default;

void TextSource::fail(const std::string& what) {
  error_ = name_ + ":" + std::to_string(row_) + ": " + what;
}

// Moves the unread bytes to the front and appends one block.
void TextSource::refill() {
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::span<char> room{buffer_.get() + end_, kBuffer - end_};
  size_t got = 0;
  if (decompressor_) {
    got = decompressor_->read(*input_, room);
  } else {
    const std::string_view block = input_->peek();
    got = std::min(block.size(), room.size());
    if (got > 0) std::memcpy(room.data(), block.data(), got);
    input_->take(got);
  }
  end_ += got;
  is_drained_ = got == 0;
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // byte order mark, which spreadsheets write
  if (!std::exchange(is_begun_, true) && std::string_view{buffer_.get(), end_}.starts_with(kMark)) {
    end_ -= kMark.size();
    std::memmove(buffer_.get(), buffer_.get() + kMark.size(), end_);
  }
}

std::optional<std::string_view> TextSource::accept(const char* line, size_t length) {
  ++row_;
  if (length > 0 && line[length - 1] == '\r') --length;
  if (length > kLineMax) {
    fail("the line is longer than " + std::to_string(kLineMax) + " bytes");
    return {};
  }
  if (std::memchr(line, '\0', length) != nullptr) {
    fail("found a NUL byte, expected text");
    return {};
  }
  return std::string_view{line, length};
}

std::string TextSource::complaint() const {
  const bool is_packed = decompressor_ && !decompressor_->complaint().empty();
  return is_packed ? decompressor_->complaint() : input_->complaint();
}

std::string_view TextSource::next_block() {
  if (error_) return {};
  begin_ = end_;
  refill();
  if (is_drained_ && !complaint().empty()) error_ = name_ + ": " + complaint();
  return {buffer_.get(), end_};
}

std::optional<std::string_view> TextSource::next_line() {
  if (error_) return {};
  size_t searched = 0;  // how many bytes from begin_ on have no line end
  for (;;) {
    const char* line = buffer_.get() + begin_;
    const size_t left = end_ - begin_;
    const void* found =
        left > searched ? std::memchr(line + searched, '\n', left - searched) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<size_t>(static_cast<const char*>(found) - line);
      begin_ += length + 1;
      return accept(line, length);
    }
    searched = left;
    if (is_drained_ || left > kLineMax + 1) {
      if (is_drained_ && !complaint().empty()) {
        ++row_;
        fail(complaint());
        return {};
      }
      if (left == 0) return {};
      begin_ = end_;
      return accept(line, left);
    }
    refill();
  }
}

}  // namespace orrery::traces

#include "models/workload/traces/text_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery::traces {
namespace {

constexpr size_t kBlock = size_t{128} << 10U;
constexpr size_t kBuffer = 2 * kBlock;
static_assert(kBuffer > TextSource::kLineMax + kBlock);

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

class TextSource::Input {
 public:
  explicit Input(std::string_view memory) : block_{memory} {}
  explicit Input(const std::string& path) : file_{std::fopen(path.c_str(), "rb")} {
    if (!file_) {
      complaint_ = "cannot open the file: " + std::generic_category().message(errno);
      return;
    }
    storage_ = std::make_unique<char[]>(kBlock);
  }

  // What is stored next and not yet taken; empty at the end and after a complaint.
  std::string_view peek() {
    if (block_.empty() && file_ && complaint_.empty()) {
      const size_t got = std::fread(storage_.get(), 1, kBlock, file_.get());
      if (got == 0 && std::ferror(file_.get()) != 0) {
        complaint_ = "cannot read the file: " + std::generic_category().message(errno);
      }
      block_ = {storage_.get(), got};
    }
    return block_;
  }
  void take(size_t count) { block_.remove_prefix(count); }
  const std::string& complaint() const { return complaint_; }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<char[]> storage_;
  std::string_view block_;
  std::string complaint_;
};

class TextSource::Gunzip {
 public:
  Gunzip() {
    // 15 + 16: the largest window, gzip framing only.
    ORRERY_CHECK(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib must have memory for its state");
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() { inflateEnd(&stream_); }

  // Decompresses into `out`; zero bytes mean the end or a complaint. Members may follow each other.
  size_t read(Input& input, std::span<char> out) {
    while (complaint_.empty()) {
      const std::string_view block = input.peek();
      if (block.empty()) {
        if (!is_between_members_ && input.complaint().empty()) {
          complaint_ = "the gzip data ends too early";
        }
        return 0;
      }
      if (is_between_members_ && static_cast<unsigned char>(block.front()) != 0x1F) {
        complaint_ = "the gzip data is followed by something else";
        return 0;
      }
      if (const size_t got = inflate_some(input, block, out); got > 0) return got;
    }
    return 0;
  }
  const std::string& complaint() const { return complaint_; }

 private:
  size_t inflate_some(Input& input, std::string_view block, std::span<char> out) {
    // zlib takes its input without const, and does not write to it.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    stream_.avail_in = static_cast<uInt>(std::min(block.size(), kBlock));
    const uInt offered = stream_.avail_in;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    input.take(offered - stream_.avail_in);
    is_between_members_ = status == Z_STREAM_END;
    if (is_between_members_) {
      inflateReset(&stream_);
    } else if (status != Z_OK) {
      complaint_ = "the gzip data is damaged";
      if (stream_.msg != nullptr) complaint_ += std::string{" ("} + stream_.msg + ")";
    }
    return out.size() - stream_.avail_out;
  }

  z_stream stream_{};
  bool is_between_members_ = false;
  std::string complaint_;
};

TextSource TextSource::open_file(const std::string& path) {
  return {path, std::make_unique<Input>(path)};
}

TextSource TextSource::from_memory(std::string_view text, std::string name) {
  return {std::move(name), std::make_unique<Input>(text)};
}

TextSource::TextSource(std::string name, std::unique_ptr<Input> input)
    : name_{std::move(name)}, input_{std::move(input)} {
  const std::string_view head = input_->peek();
  if (!input_->complaint().empty()) {
    error_ = name_ + ": " + input_->complaint();
    return;
  }
  buffer_ = std::make_unique<char[]>(kBuffer);
  if (head.starts_with("\x1F\x8B")) {
    gunzip_ = std::make_unique<Gunzip>();
  } else if (head.starts_with("\xEF\xBB\xBF")) {
    input_->take(3);  // a byte order mark, as spreadsheets write it
  }
}

TextSource::TextSource(TextSource&&) noexcept = default;
TextSource& TextSource::operator=(TextSource&&) noexcept = default;
TextSource::~TextSource() = default;

void TextSource::fail(const std::string& what) {
  error_ = name_ + ":" + std::to_string(row_) + ": " + what;
}

// Moves the unread rest to the front and appends one block.
void TextSource::refill() {
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::span<char> room{buffer_.get() + end_, kBuffer - end_};
  size_t got = 0;
  if (gunzip_) {
    got = gunzip_->read(*input_, room);
  } else {
    const std::string_view block = input_->peek();
    got = std::min(block.size(), room.size());
    if (got > 0) std::memcpy(room.data(), block.data(), got);
    input_->take(got);
  }
  end_ += got;
  is_drained_ = got == 0;
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
  return gunzip_ && !gunzip_->complaint().empty() ? gunzip_->complaint() : input_->complaint();
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
  size_t searched = 0;  // of the line that starts at begin_
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

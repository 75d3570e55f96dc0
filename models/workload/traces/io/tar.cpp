#include "models/workload/traces/io/tar.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace orrery::traces {
namespace {

constexpr size_t kMagicAt = 257;
constexpr size_t kSumAt = 148;
constexpr size_t kSumLength = 8;

// Parses octal digits after optional blanks. Ignores what follows the digits.
std::optional<uint64_t> octal(std::string_view field) {
  while (field.starts_with(' ')) field.remove_prefix(1);
  const size_t length = std::min(field.find_first_not_of("01234567"), field.size());
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(field.data(), field.data() + length, value, 8);
  if (length == 0 || status != std::errc{}) return {};
  return value;
}

// The sum of all bytes of a header, with blanks in place of its checksum.
uint64_t sum_of(std::string_view header) {
  uint64_t sum = kSumLength * uint64_t{' '};
  for (size_t i = 0; i < header.size(); ++i) {
    if (i < kSumAt || i >= kSumAt + kSumLength) sum += static_cast<unsigned char>(header[i]);
  }
  return sum;
}

// Headers from before 1988 have no magic. They are recognised by a NUL byte and a correct
// checksum, because no text has both.
bool is_old_header(std::string_view header) {
  const auto sum = octal(header.substr(kSumAt, kSumLength));
  return sum && header.find('\0') != std::string_view::npos && *sum == sum_of(header);
}

// Whether an entry is a sparse file in GNU's or POSIX's format. Such an entry lacks the file's
// holes, so its bytes are not those of the file.
bool is_sparse(std::string_view path, char type) {
  return type == 'S' || path.find("GNUSparseFile.") != std::string_view::npos;
}

// Whether an entry is a file ._NAME, in which macOS stores metadata of the file NAME.
bool is_note(std::string_view path) {
  path = path.substr(0, path.find('\0'));
  return path.substr(path.rfind('/') + 1).starts_with("._");
}

}  // namespace

bool is_tar(std::string_view head) {
  if (head.size() >= kMagicAt + 5 && head.substr(kMagicAt, 5) == "ustar") return true;
  return head.size() >= TarFile::kBlock && is_old_header(head.substr(0, TarFile::kBlock));
}

size_t TarFile::fetch(StoredBytes& input, std::span<char> out) {
  if (packing_ != nullptr) {
    const size_t got = packing_->read(input, out);
    if (got == 0) complaint_ = packing_->complaint();
    return got;
  }
  const std::string_view stored = input.peek();
  const size_t got = std::min(stored.size(), out.size());
  if (got > 0) std::memcpy(out.data(), stored.data(), got);
  input.take(got);
  if (got == 0) complaint_ = input.complaint();
  return got;
}

// Returns false if the input ends before the block is full.
bool TarFile::fill_block(StoredBytes& input) {
  while (held_ < kBlock) {
    const size_t got = fetch(input, std::span{block_}.subspan(held_));
    if (got == 0) return false;
    held_ += got;
  }
  return true;
}

size_t TarFile::read(StoredBytes& input, std::span<char> out) {
  while (complaint_.empty()) {
    switch (state_) {
      case State::Start: {
        const bool is_whole = fill_block(input);
        const bool is_archive = is_whole && is_tar({block_.data(), held_});
        state_ = is_archive ? State::Header : State::Plain;
        if (!is_archive && held_ > 0) return pass_through(input, out);
        break;
      }
      case State::Plain:
        return pass_through(input, out);
      case State::Header:
        if (fill_block(input)) {
          read_header();
        } else if (held_ == 0) {
          finish();  // some writers omit the blocks of zeros that mark the end
        } else if (complaint_.empty()) {
          complaint_ = "the tar archive ends too early";
        }
        break;
      case State::Content:
        if (const size_t got = read_content(input, out); got > 0) return got;
        break;
      case State::Skip:
        skip(input);
        break;
      case State::Over:  // reads to the end, where the decompressor verifies the checksum
        if (fetch(input, block_) == 0) return 0;
        break;
    }
  }
  return 0;
}

size_t TarFile::pass_through(StoredBytes& input, std::span<char> out) {
  if (given_ == held_) return fetch(input, out);
  const size_t got = std::min(held_ - given_, out.size());
  std::memcpy(out.data(), block_.data() + given_, got);
  given_ += got;
  complaint_.clear();  // the next read after these bytes reports the error again
  return got;
}

void TarFile::finish() {
  if (has_file_) {
    state_ = State::Over;
  } else if (complaint_.empty()) {
    complaint_ = "the tar archive holds no file";
  }
}

void TarFile::read_header() {
  const std::string_view header{block_.data(), kBlock};
  held_ = 0;
  if (header.find_first_not_of('\0') == std::string_view::npos) {
    finish();
    return;
  }
  const auto size = octal(header.substr(124, 12));
  const auto sum = octal(header.substr(kSumAt, kSumLength));
  if (!size || !sum || *sum != sum_of(header)) {
    complaint_ = "the tar archive is damaged";
    return;
  }
  const uint64_t padding = (kBlock - *size % kBlock) % kBlock;
  const char type = header[156];
  if (is_sparse(header.substr(0, 100), type)) {
    complaint_ = "the tar archive holds a sparse file: pack it without --sparse";
    return;
  }
  const bool is_file = (type == '0' || type == '\0') && !is_note(header.substr(0, 100));
  if (!is_file) {
    state_ = State::Skip;
    left_ = *size + padding;
  } else if (has_file_) {
    complaint_ = "the tar archive holds several files: unpack it and name one";
  } else {
    has_file_ = true;
    state_ = State::Content;
    left_ = *size;
    padding_ = padding;
  }
}

size_t TarFile::read_content(StoredBytes& input, std::span<char> out) {
  if (left_ == 0) {
    state_ = State::Skip;
    left_ = padding_;
    return 0;
  }
  const size_t got = fetch(input, out.first(std::min<uint64_t>(out.size(), left_)));
  if (got == 0 && complaint_.empty()) complaint_ = "the tar archive ends too early";
  left_ -= got;
  return got;
}

void TarFile::skip(StoredBytes& input) {
  if (left_ == 0) {
    state_ = State::Header;
    return;
  }
  const size_t got = fetch(input, std::span{block_}.first(std::min<uint64_t>(kBlock, left_)));
  if (got == 0 && complaint_.empty()) complaint_ = "the tar archive ends too early";
  left_ -= got;
}

}  // namespace orrery::traces

// models/workload/traces/io/text_source.hpp -- reads text line by line, also from gzip and xz data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::traces {

class Decompressor;
class StoredBytes;

// Streams a file or a memory buffer in blocks, so memory does not grow with the input. Gzip and xz
// are recognised by their first bytes, and so is a tar archive, which must hold one file. A line
// ends with LF or CR LF; the last line needs no end. Reading stops at the first error: an
// unreadable file, damaged or truncated compression, a line that is too long, a NUL byte.
class TextSource {
 public:
  static constexpr size_t kLineMax = size_t{64} << 10U;

  // While a FileSharing exists, a file of at most 256 MiB of text is read and unpacked only once.
  static TextSource open_file(const std::string& path);
  // The file `stem`, plain or packed, in the folder of the file `path` or in the parent of that
  // folder. Returns nullopt if there is no such file.
  static std::optional<TextSource> open_beside(const std::string& path, const std::string& stem);
  // `text` must outlive the source; `name` is the file's name in messages.
  static TextSource from_memory(std::string_view text, std::string name);

  TextSource(TextSource&&) noexcept;
  TextSource& operator=(TextSource&&) noexcept;
  ~TextSource();

  // The next line, valid until the next call; nullopt at the end of the text or after an error.
  std::optional<std::string_view> next_line();
  // The next block of the text, for layouts without lines. The block is valid until the next call;
  // empty at the end or after an error. Do not mix with calls of next_line().
  std::string_view next_block();
  int64_t row() const { return row_; }  // row of the last line, from 1
  const std::string& name() const { return name_; }
  const std::optional<std::string>& error() const { return error_; }

 private:
  TextSource(std::string name, std::unique_ptr<StoredBytes> input);
  void fail(const std::string& what);
  std::optional<std::string_view> accept(const char* line, size_t length);
  void refill();
  std::string complaint() const;  // what is wrong with the stored data

  std::string name_;
  std::shared_ptr<const std::optional<std::string>> shared_;  // the shared text, if any
  std::unique_ptr<StoredBytes> input_;
  std::unique_ptr<Decompressor> decompressor_;  // null: plain text
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool is_begun_ = false, is_drained_ = false;
  int64_t row_ = 0;
  std::optional<std::string> error_;
};

}  // namespace orrery::traces

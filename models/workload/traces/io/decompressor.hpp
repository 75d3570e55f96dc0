// models/workload/traces/io/decompressor.hpp -- reads a file or a buffer, and unpacks gzip and xz.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace orrery::traces {

// A file, read in blocks of kBlock bytes, or a memory buffer.
class StoredBytes {
 public:
  static constexpr size_t kBlock = size_t{128} << 10U;

  explicit StoredBytes(std::string_view memory) : block_{memory} {}
  explicit StoredBytes(const std::string& path);

  // The next stored bytes; empty at the end and after an error.
  std::string_view peek();
  void take(size_t count) { block_.remove_prefix(count); }
  const std::string& complaint() const { return complaint_; }

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<char[]> storage_;
  std::string_view block_;
  std::string complaint_;
};

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Writes unpacked bytes to `out` and returns their number; 0 at the end or after an error. The
  // input may hold several packed streams, one after the other.
  virtual size_t read(StoredBytes& input, std::span<char> out) = 0;
  const std::string& complaint() const { return complaint_; }

 protected:
  std::string complaint_;
};

// The decompressor for data that begins with `head`: gzip or xz. Null for other data.
std::unique_ptr<Decompressor> decompressor_for(std::string_view head);

}  // namespace orrery::traces

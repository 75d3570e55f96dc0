// sim/record/hdf5_file.hpp -- one HDF5 file being written, without any HDF5 type in sight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/column.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// A table to be: packed compound rows, chunked, shuffled, deflated, extendible. Its dataset has the
// attributes `doc` (text), `units` and `docs` (arrays of text, one per column, in column order).
struct TableSpec {
  std::string path, doc;
  std::vector<Column> columns;
  size_t row_bytes = 0;
};

// Errors are kept, not thrown: after the first one every call does nothing and `error` says why.
// Nothing in the file depends on the time of day, so equal contents are equal bytes. Texts have a
// fixed length, which is what SWMR (single writer, many readers) allows.
class Hdf5File {
 public:
  enum class Mode : uint8_t { Create, Modify };
  struct Storage {
    int compression = 1;       // deflate level, 0: none
    size_t chunk_rows = 8192;  // fewer when the rows are wide: a chunk has at most 256 KiB
    bool is_synced = true;     // closing waits for the disk
  };

  Hdf5File(const std::string& path, Mode mode, Storage storage);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Tables are numbered in the order in which they are added. One of which it is known how many
  // `rows` it will have, and that they are fewer than fill a chunk, has a chunk of as many.
  void add_table(const TableSpec& spec, std::optional<size_t> rows = {});
  void add_group(std::string_view path);
  void write_text(std::string_view path, std::string_view text);
  void write_scalar(const SummaryValue& value);
  void set_attribute(std::string_view name, const AttributeValue& value);
  // From here on readers may follow and no object or attribute may be added.
  void start_swmr();
  void append(size_t table, const void* rows, size_t count);
  // Hands all rows to the operating system: from here on they survive a kill of this process.
  void flush();
  uint64_t rows_of(size_t table) const;
  // Takes over the rows of a file with the same tables and storage, chunk by chunk as they are.
  // This one knows how many rows its tables will have.
  void copy_rows(Hdf5File& from);
  void close();
  // Closes without another byte written: the file is about to be removed.
  void abandon();

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  struct Parts;
  int64_t checked(int64_t result, const char* what);
  int64_t dataset_of(size_t table);
  void write_tail(size_t table);
  void write_tails();
  void write_chunk(size_t table, uint64_t rows, uint64_t first, const std::vector<std::byte>& chunk,
                   uint32_t filters);
  void copy_table(Hdf5File& from, size_t table);
  std::unique_ptr<Parts> parts_;
  std::string error_;
};

}  // namespace orrery

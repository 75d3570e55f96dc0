// sim/record/hdf5_file.hpp -- writes one HDF5 file, without HDF5 types in the interface.
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

// A table to create. Its rows are packed compounds. Its dataset is extendible and chunked; unless
// compression is 0, chunks are shuffled and deflated. The dataset has the attributes `doc` (text),
// `units` and `docs` (arrays with one text per column, in column order).
struct TableSpec {
  std::string path, doc;
  std::vector<Column> columns;
  size_t row_bytes = 0;
};

// Whether the file exists and begins with the signature of HDF5.
bool is_hdf5(const std::string& path);

// Errors are stored, not thrown. After the first error, error() has the reason, close() and
// abandon() only close the file, and every other call that writes does nothing. Nothing in the file
// depends on the time of day, so files with equal contents are equal byte for byte. Texts have a
// fixed length, which SWMR (single writer, multiple readers) requires.
class Hdf5File {
 public:
  enum class Mode : uint8_t { Create, Modify };
  struct Storage {
    int compression = 1;       // deflate level; 0 means none
    size_t chunk_rows = 8192;  // fewer when the rows are wide: a chunk has at most 256 KiB
    bool is_synced = true;     // closing waits for the disk
  };

  Hdf5File(const std::string& path, Mode mode, Storage storage);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Tables are numbered in the order in which they are added. `rows` is the table's final number of
  // rows, if known. A chunk has at most that many rows, but at least one.
  void add_table(const TableSpec& spec, std::optional<size_t> rows = {});
  void add_group(std::string_view path);
  void write_text(std::string_view path, std::string_view text);
  void write_scalar(const SummaryValue& value);
  void set_attribute(std::string_view name, const AttributeValue& value);
  // Readers may open the file from now on, and no object or attribute may be added.
  void start_swmr();
  void append(size_t table, const void* rows, size_t count);
  // Passes all rows to the operating system: they survive a kill of this process.
  void flush();
  uint64_t rows_of(size_t table) const;
  // Copies the rows of a file with the same tables and storage. Call add_table() before, with the
  // final number of rows of each table. Full chunks are copied as they are; only rows of incomplete
  // chunks are compressed again.
  void copy_rows(Hdf5File& from);
  void close();
  // Closes without writing anything more. The caller then removes the file.
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

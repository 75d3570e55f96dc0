#include "sim/record/hdf5_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/record/hdf5_driver.hpp"
#include "sim/record/hdf5_filters.hpp"
#include "sim/record/hdf5_objects.hpp"

namespace orrery {
namespace {

constexpr size_t kChunkBytesMax = size_t{256} << 10U;

// Metadata, such as a table's number of rows, is written by flushes only, never by a cache
// eviction. So a reader of a growing table never counts rows that are not in the file yet.
void hold_metadata_until_flush(hid_t access) {
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access, &config);
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  config.evictions_enabled = false;
  H5Pset_mdc_config(access, &config);
}

// Every write is a whole chunk, so HDF5 need not cache chunks.
Hdf5Handle table_access() {
  Hdf5Handle access = new_list(H5P_DATASET_ACCESS, false);
  H5Pset_chunk_cache(access.get(), 0, 0, 1.0);
  return access;
}

// Bytes that are adjacent in the row struct and in the packed row of the file.
struct Run {
  size_t from, to, bytes;
};

struct Table {
  std::string path;
  Hdf5Handle dataset;
  std::vector<Run> runs;
  size_t row_bytes = 0, packed_bytes = 0, chunk_rows = 0;
  hsize_t rows = 0;
  std::vector<std::byte> tail;  // packed rows of the incomplete chunk
  bool is_tail_new = false;     // some rows of `tail` are not in the file yet

  hsize_t whole_rows() const { return rows - rows % chunk_rows; }  // rows in full chunks
};

std::vector<Run> runs_of(std::span<const Column> columns) {
  std::vector<Run> runs;
  size_t to = 0;
  for (const Column& column : columns) {
    if (!runs.empty() && runs.back().from + runs.back().bytes == column.offset) {
      runs.back().bytes += column.bytes;
    } else {
      runs.push_back({column.offset, to, column.bytes});
    }
    to += column.bytes;
  }
  return runs;
}

// Packs `count` rows without their padding.
void pack(const Table& table, const std::byte* rows, size_t count, std::byte* to) {
  if (table.runs.size() == 1 && table.packed_bytes == table.row_bytes) {
    std::memcpy(to, rows, count * table.row_bytes);
    return;
  }
  for (const Run& run : table.runs) {
    std::byte* into = to + run.to;
    const std::byte* from = rows + run.from;
    for (size_t i = 0; i < count; ++i, into += table.packed_bytes, from += table.row_bytes) {
      std::memcpy(into, from, run.bytes);
    }
  }
}

}  // namespace

bool is_hdf5(const std::string& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::array<char, kSignature.size()> head{};
  std::ifstream file{path, std::ios::binary};
  file.read(head.data(), head.size());
  return file && std::string_view{head.data(), head.size()} == kSignature;
}

struct Hdf5File::Parts {
  Storage storage;
  FileFault fault;
  // Creation properties of texts and summary figures.
  Hdf5Handle plain = new_list(H5P_DATASET_CREATE, true);
  Hdf5Handle access = table_access();
  Hdf5Handle scalar{H5Screate(H5S_SCALAR), H5Sclose};
  Hdf5Handle file;
  std::vector<Table> tables;
  bool is_dirty = false;                      // rows came since the last flush
  std::vector<std::byte> shuffled, deflated;  // buffers for the chunk being written
};

Hdf5File::Hdf5File(const std::string& path, Mode mode, Storage storage)
    : parts_{std::make_unique<Parts>()} {
  silence_hdf5();
  parts_->storage = storage;
  const Hdf5Handle access{make_file_access(parts_->fault, storage.is_synced), H5Pclose};
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  hold_metadata_until_flush(access.get());
  const Hdf5Handle creation = new_list(H5P_FILE_CREATE, true);
  const hid_t file = mode == Mode::Create
                         ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get())
                         : H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get());
  parts_->file = Hdf5Handle{checked(file, "open the file"), H5Fclose};
}

Hdf5File::~Hdf5File() {
  silence_hdf5();  // silencing is per thread, and another thread may destroy this object
  parts_->tables.clear();
}

int64_t Hdf5File::checked(int64_t result, const char* what) {
  if (!failed() && (result < 0 || parts_->fault.error_number != 0)) {
    const int number = parts_->fault.error_number;
    error_ = number != 0 ? std::strerror(number)
                         : std::string{"HDF5 cannot "} + what + " (" + innermost_hdf5_error() + ")";
  }
  return result;
}

void Hdf5File::add_group(std::string_view path) {
  if (failed()) return;
  const Hdf5Handle creation = new_list(H5P_GROUP_CREATE, true);
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string group{path.substr(0, end)};
    if (H5Lexists(parts_->file.get(), group.c_str(), H5P_DEFAULT) <= 0) {
      const Hdf5Handle made{
          H5Gcreate2(parts_->file.get(), group.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
          H5Gclose};
      checked(made.get(), "create a group");
    }
    if (end == std::string_view::npos) return;
  }
}

void Hdf5File::add_table(const TableSpec& spec, std::optional<size_t> rows) {
  if (failed()) return;
  Table table;
  table.path = spec.path;
  table.runs = runs_of(spec.columns);
  table.row_bytes = spec.row_bytes;
  for (const Column& column : spec.columns) table.packed_bytes += column.bytes;
  table.chunk_rows =
      std::clamp<size_t>(kChunkBytesMax / table.packed_bytes, 1, parts_->storage.chunk_rows);
  if (rows) table.chunk_rows = std::clamp<size_t>(*rows, 1, table.chunk_rows);
  const Hdf5Handle type{H5Tcreate(H5T_COMPOUND, table.packed_bytes), H5Tclose};
  std::vector<std::string> units;
  std::vector<std::string> docs;
  size_t offset = 0;
  for (const Column& column : spec.columns) {
    const std::string name{column.name};
    checked(H5Tinsert(type.get(), name.c_str(), offset, type_of(column).get()), "add a column");
    offset += column.bytes;
    units.emplace_back(column.unit);
    docs.emplace_back(column.doc);
    if (column.kind == ColumnKind::Id) docs.back() += " (4294967295: none)";
  }
  const hsize_t chunk = table.chunk_rows;
  const hsize_t empty = 0;
  const hsize_t limit = H5S_UNLIMITED;
  const Hdf5Handle creation = new_list(H5P_DATASET_CREATE, true);
  H5Pset_chunk(creation.get(), 1, &chunk);
  if (parts_->storage.compression > 0) {
    H5Pset_shuffle(creation.get());
    H5Pset_deflate(creation.get(), static_cast<unsigned>(parts_->storage.compression));
  }
  if (const size_t slash = spec.path.rfind('/'); slash > 0) add_group(spec.path.substr(0, slash));
  const Hdf5Handle space{H5Screate_simple(1, &empty, &limit), H5Sclose};
  const hid_t made = H5Dcreate2(parts_->file.get(), spec.path.c_str(), type.get(), space.get(),
                                H5P_DEFAULT, creation.get(), parts_->access.get());
  table.dataset = Hdf5Handle{checked(made, "create a table"), H5Dclose};
  checked(attach_text(made, "doc", spec.doc), "describe a table");
  checked(attach_texts(made, "units", units), "describe a table");
  checked(attach_texts(made, "docs", docs), "describe a table");
  parts_->tables.push_back(std::move(table));
}

void Hdf5File::write_text(std::string_view path, std::string_view text) {
  if (failed()) return;
  if (const size_t slash = path.rfind('/'); slash > 0) add_group(path.substr(0, slash));
  const std::string stored{text.empty() ? std::string_view{"\0", 1} : text};
  const Hdf5Handle type = text_type(stored.size());
  const Hdf5Handle made{
      H5Dcreate2(parts_->file.get(), std::string{path}.c_str(), type.get(), parts_->scalar.get(),
                 H5P_DEFAULT, parts_->plain.get(), H5P_DEFAULT),
      H5Dclose};
  checked(made.get(), "create a text");
  checked(H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data()),
          "write a text");
}

void Hdf5File::write_scalar(const SummaryValue& value) {
  if (failed()) return;
  const hid_t type =
      std::holds_alternative<double>(value.value) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  const std::string path = "/summary/" + value.name;
  const Hdf5Handle made{H5Dcreate2(parts_->file.get(), path.c_str(), type, parts_->scalar.get(),
                                   H5P_DEFAULT, parts_->plain.get(), H5P_DEFAULT),
                        H5Dclose};
  const void* const bytes =
      std::visit([](const auto& v) -> const void* { return &v; }, value.value);
  checked(made.get(), "create a summary figure");
  checked(H5Dwrite(made.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), "write a figure");
  checked(attach_text(made.get(), "unit", value.unit), "describe a figure");
  checked(attach_text(made.get(), "doc", value.doc), "describe a figure");
}

void Hdf5File::set_attribute(std::string_view name, const AttributeValue& value) {
  if (failed()) return;
  const hid_t root = parts_->file.get(), space = parts_->scalar.get();
  const std::string key{name};
  if (H5Aexists(root, key.c_str()) > 0) H5Adelete(root, key.c_str());
  herr_t result = -1;
  if (const auto* const text = std::get_if<std::string>(&value)) {
    result = attach_text(root, key, *text);
  } else if (const auto* const flag = std::get_if<bool>(&value)) {
    result = attach(root, key, bool_type().get(), space, flag);
  } else if (const auto* const number = std::get_if<double>(&value)) {
    result = attach(root, key, H5T_NATIVE_DOUBLE, space, number);
  } else if (const auto* const whole = std::get_if<int64_t>(&value)) {
    result = attach(root, key, H5T_NATIVE_INT64, space, whole);
  } else {
    result = attach(root, key, H5T_NATIVE_UINT64, space, &std::get<uint64_t>(value));
  }
  checked(result, "set an attribute");
}

void Hdf5File::start_swmr() {
  if (failed()) return;
  for (Table& table : parts_->tables) table.dataset = {};  // SWMR requires closed datasets
  checked(H5Fstart_swmr_write(parts_->file.get()), "let readers in");
  checked(H5Fflush(parts_->file.get(), H5F_SCOPE_LOCAL), "let readers in");
}

int64_t Hdf5File::dataset_of(size_t table) {
  Table& t = parts_->tables[table];
  if (t.dataset.get() < 0) {
    const hid_t id = H5Dopen2(parts_->file.get(), t.path.c_str(), parts_->access.get());
    t.dataset = Hdf5Handle{checked(id, "open a table"), H5Dclose};
  }
  return t.dataset.get();
}

// Chunks are shuffled and deflated here and not by HDF5, whose lock admits one thread at a time.
void Hdf5File::write_tail(size_t table) {
  Table& t = parts_->tables[table];
  if (!std::exchange(t.is_tail_new, false) || failed()) return;
  const size_t filled = t.tail.size();
  t.tail.resize(t.chunk_rows * t.packed_bytes);
  const std::vector<std::byte>* chunk = &t.tail;
  if (parts_->storage.compression > 0) {
    shuffle(t.tail, t.packed_bytes, parts_->shuffled);
    deflate(parts_->shuffled, parts_->storage.compression, parts_->deflated);
    chunk = &parts_->deflated;
  }
  write_chunk(table, t.rows, t.rows - filled / t.packed_bytes, *chunk, 0);
  t.tail.resize(filled);
}

void Hdf5File::write_chunk(size_t table, uint64_t rows, uint64_t first,
                           const std::vector<std::byte>& chunk, uint32_t filters) {
  const hid_t dataset = dataset_of(table);
  const hsize_t extent = rows;
  const hsize_t at = first;
  checked(H5Dset_extent(dataset, &extent), "extend a table");
  checked(H5Dwrite_chunk(dataset, H5P_DEFAULT, filters, &at, chunk.size(), chunk.data()),
          "append rows");
}

void Hdf5File::append(size_t table, const void* rows, size_t count) {
  silence_hdf5();
  if (failed()) return;
  Table& t = parts_->tables[table];
  const auto* from = static_cast<const std::byte*>(rows);
  while (count > 0 && !failed()) {
    const size_t filled = t.tail.size();
    const size_t piece = std::min<size_t>(count, t.chunk_rows - t.rows % t.chunk_rows);
    t.tail.resize(filled + piece * t.packed_bytes);
    pack(t, from, piece, t.tail.data() + filled);
    t.rows += piece;
    t.is_tail_new = parts_->is_dirty = true;
    if (t.rows % t.chunk_rows == 0) {
      write_tail(table);
      t.tail.clear();
    }
    from += piece * t.row_bytes;
    count -= piece;
  }
}

void Hdf5File::write_tails() {
  for (size_t i = 0; i < parts_->tables.size(); ++i) write_tail(i);
}

void Hdf5File::flush() {
  silence_hdf5();
  if (failed() || !std::exchange(parts_->is_dirty, false)) return;
  write_tails();
  checked(H5Fflush(parts_->file.get(), H5F_SCOPE_LOCAL), "flush the file");
}

uint64_t Hdf5File::rows_of(size_t table) const { return parts_->tables[table].rows; }

void Hdf5File::copy_table(Hdf5File& from, size_t table) {
  const Table& source = from.parts_->tables[table];
  Table& t = parts_->tables[table];
  t.rows = source.rows;
  t.tail = source.tail;
  t.is_tail_new = !t.tail.empty();
  if (t.chunk_rows < source.chunk_rows) {  // all rows are in the tail
    write_tail(table);
    return t.tail.clear();
  }
  for (hsize_t row = 0; row < source.whole_rows() && !failed(); row += t.chunk_rows) {
    hsize_t bytes = 0;
    checked(H5Dget_chunk_storage_size(from.dataset_of(table), &row, &bytes), "find rows");
    parts_->deflated.resize(bytes);
    uint32_t filters = 0;
    checked(
        H5Dread_chunk(from.dataset_of(table), H5P_DEFAULT, &row, &filters, parts_->deflated.data()),
        "read rows");
    write_chunk(table, row + t.chunk_rows, row, parts_->deflated, filters);
  }
}

void Hdf5File::copy_rows(Hdf5File& from) {
  if (failed()) return;
  ORRERY_CHECK(from.parts_->tables.size() == parts_->tables.size(), "both files have equal tables");
  for (size_t i = 0; i < parts_->tables.size() && !failed() && !from.failed(); ++i) {
    copy_table(from, i);
  }
  if (from.failed() && !failed()) error_ = from.error();
}

void Hdf5File::abandon() {
  silence_hdf5();
  parts_->fault.error_number = ECANCELED;  // the driver drops HDF5's remaining writes
  parts_->tables.clear();
  parts_->file = Hdf5Handle{};
}

void Hdf5File::close() {
  silence_hdf5();
  write_tails();
  parts_->tables.clear();
  const hid_t file = parts_->file.release();
  if (file < 0) return;
  checked(H5Fclose(file), "close the file");
}

}  // namespace orrery

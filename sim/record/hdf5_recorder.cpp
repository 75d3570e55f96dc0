#include "sim/record/hdf5_recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPendingBytesMax = size_t{16} << 20U;

std::string hex_of(uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4U) {
    *digit = kDigits[value & 15U];
  }
  return text;
}

// Resolves symbolic links, so that the recorder replaces the file behind a link, not the link.
std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

// Without an fsync of the folder, a power cut may undo the rename of a file in it. Errors are
// ignored: the file's data are on disk already, and some file systems cannot sync folders.
void sync_folder_of(const std::string& path) {
  const std::string folder = fs::path{path}.parent_path().string();
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

}  // namespace

class Hdf5Recorder::Claim {
 public:
  explicit Claim(int descriptor) : descriptor_{descriptor} {}
  Claim(Claim&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
  Claim& operator=(Claim&&) = delete;
  ~Claim() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  // Returns 0 or an errno: EAGAIN or EACCES if another recorder, of this process or another, has
  // the lock. flock() would keep readers out, because HDF5 takes that lock to open a file.
  int lock() {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(descriptor_, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
  }
  bool is_open() const { return descriptor_ >= 0; }
  // Whether the path still leads to this file: a run that held the lock before may have renamed or
  // removed it.
  bool is_at(const std::string& path) const {
    struct stat own {
    }, there{};
    return ::fstat(descriptor_, &own) == 0 && ::stat(path.c_str(), &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
  }

 private:
  int descriptor_;
};

Hdf5Recorder::Hdf5Recorder(Options options) : options_{std::move(options)} {
  ORRERY_CHECK(options_.compression >= 0 && options_.compression <= 9, "deflate has levels 0 to 9");
  ORRERY_CHECK(options_.chunk_rows > 0, "a chunk holds rows");
  options_.path = resolved(options_.path);
  part_path_ = options_.path + ".part";
  new_path_ = options_.path + ".part.new";
  file_path_ = part_path_;
  if (options_.path.empty()) throw_error("the path is empty");
  struct stat status {};
  if (::stat(options_.path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw_error(std::strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) throw_error("not a regular file");
    if (::access(options_.path.c_str(), W_OK) != 0) throw_error(std::strerror(errno));
  } else if (errno != ENOENT) {
    throw_error(std::strerror(errno));
  }
  claim(part_path_, false);
  claim_ = std::make_unique<Claim>(claim(new_path_, true));
}

Hdf5Recorder::~Hdf5Recorder() {
  if (!is_started_) ::unlink(new_path_.c_str());
  if (!is_started_ || is_finished_ || is_discarded_) return;
  try {
    flush_all();
    if (file_ == nullptr && error_.empty()) begin_part();
    if (file_ != nullptr) file_->close();
    if (file_ != nullptr && file_->failed()) fail(file_->error());
  } catch (const std::bad_alloc&) {  // the file stays as last flushed
  }
}

Hdf5Recorder::Claim Hdf5Recorder::claim(const std::string& path, bool may_create) const {
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (may_create ? O_CREAT : 0);
  Claim claim{::open(path.c_str(), flags, 0666)};
  if (!claim.is_open()) {
    if (errno == ELOOP) throw_error(path + " is a symbolic link, which may lead anywhere");
    if (may_create || errno != ENOENT) throw_error(std::strerror(errno));
    return claim;
  }
  const int error = claim.lock();
  if (error == EAGAIN || error == EACCES) throw_error("another run is writing it");
  if (!claim.is_at(path)) return this->claim(path, may_create);
  return claim;  // not locked if the file system has no locks
}

void Hdf5Recorder::throw_error(const std::string& reason) const {
  throw RecordError{"cannot write '" + options_.path + "': " + reason};
}

Hdf5File::Storage Hdf5Recorder::storage() const {
  return {.compression = options_.compression,
          .chunk_rows = options_.chunk_rows,
          .is_synced = options_.is_synced};
}

TableId Hdf5Recorder::open(std::string_view path, std::string_view doc,
                           std::span<const Column> columns, size_t row_bytes) {
  ORRERY_CHECK(!is_started_, "tables are opened before the run starts");
  ORRERY_CHECK(path.size() > 1 && path.front() == '/' && !columns.empty(),
               "a table has an absolute path and columns");
  ORRERY_CHECK(std::none_of(tables_.begin(), tables_.end(),
                            [&](const TableSpec& t) { return t.path == path; }),
               "a table has one channel");
  const std::string key{path};
  for (const std::string& glob : options_.off) {
    if (is_meant(glob, key)) return {};
  }
  tables_.push_back({key, std::string{doc}, {columns.begin(), columns.end()}, row_bytes});
  return TableId{static_cast<uint32_t>(tables_.size() - 1)};
}

void Hdf5Recorder::write_text(std::string_view path, std::string_view text) {
  ORRERY_CHECK(!is_started_, "texts are written before the run starts");
  texts_.emplace_back(path, text);
}

void Hdf5Recorder::set_attribute(std::string_view name, AttributeValue value) {
  ORRERY_CHECK(!is_finished_, "a finished file is closed");
  const auto at = std::find_if(attributes_.begin(), attributes_.end(),
                               [&](const auto& a) { return a.first == name; });
  if (at != attributes_.end()) {
    at->second = std::move(value);
  } else {
    attributes_.emplace_back(name, std::move(value));
  }
}

// The number of rows so far in each table.
std::vector<size_t> Hdf5Recorder::rows() const {
  std::vector<size_t> counts(tables_.size());
  for (size_t i = 0; i < tables_.size(); ++i) {
    counts[i] = file_ != nullptr ? file_->rows_of(i) : pending_[i].size() / tables_[i].row_bytes;
  }
  return counts;
}

void Hdf5Recorder::write_head(Hdf5File& file, const std::vector<size_t>* rows) const {
  file.set_attribute("format", std::string{"orrery"});
  file.set_attribute("format_version", int64_t{1});
  for (const auto& [name, value] : attributes_) file.set_attribute(name, value);
  for (const auto& [path, text] : texts_) file.write_text(path, text);
  for (size_t i = 0; i < tables_.size(); ++i) {
    file.add_table(tables_[i], rows != nullptr ? std::optional{(*rows)[i]} : std::nullopt);
  }
  file.add_group("/summary");
}

void Hdf5Recorder::write_pending(Hdf5File& file) const {
  for (size_t i = 0; i < tables_.size() && !file.failed(); ++i) {
    file.append(i, pending_[i].data(), pending_[i].size() / tables_[i].row_bytes);
  }
}

void Hdf5Recorder::write_end(Hdf5File& file) const {
  for (const SummaryValue& value : summary()) file.write_scalar(value);
  for (const auto& [name, value] : attributes_) file.set_attribute(name, value);
}

void Hdf5Recorder::start() {
  ORRERY_CHECK(!is_started_, "a run starts once");
  pending_.resize(tables_.size());
  is_started_ = true;
  set_attribute("complete", false);
  set_attribute("digest", std::string{});
  set_attribute("wall_seconds", std::numeric_limits<double>::quiet_NaN());
  set_attribute("simulated_ns", int64_t{0});
  if (options_.part_after.count() == 0) begin_part();
  if (!error_.empty()) throw_error(error_);
  started_at_ = flushed_at_ = std::chrono::steady_clock::now();
}

void Hdf5Recorder::begin_part() {
  file_ = std::make_unique<Hdf5File>(new_path_, Hdf5File::Mode::Create, storage());
  write_head(*file_, nullptr);
  file_->start_swmr();
  write_pending(*file_);
  for (std::vector<std::byte>& rows : pending_) rows = {};
  if (file_->failed()) {
    fail(file_->error());
  } else if (::rename(new_path_.c_str(), part_path_.c_str()) != 0) {
    fail(std::strerror(errno));
  }
}

void Hdf5Recorder::append(TableId table, const void* rows, size_t count) {
  ORRERY_CHECK(!is_finished_, "no row comes after the end of the run");
  ORRERY_CHECK(is_started_, "rows come after the run starts");
  if (!error_.empty() || is_discarded_) return;
  if (file_ == nullptr) {
    std::vector<std::byte>& into = pending_[table.index];
    const auto* const from = static_cast<const std::byte*>(rows);
    into.insert(into.end(), from, from + count * tables_[table.index].row_bytes);
    pending_bytes_ += count * tables_[table.index].row_bytes;
    if (pending_bytes_ > kPendingBytesMax) begin_part();
    return;
  }
  file_->append(table.index, rows, count);
  if (file_->failed()) fail(file_->error());
}

bool Hdf5Recorder::poll(std::chrono::steady_clock::time_point now_host) {
  if (!error_.empty() || is_discarded_) return error_.empty();
  if (file_ == nullptr) {
    if (now_host - started_at_ < options_.part_after) return true;
    begin_part();
    if (file_ == nullptr) return false;
  }
  if (now_host - flushed_at_ < options_.flush_every) return true;
  flush_all();
  if (file_ != nullptr) {
    file_->flush();
    if (file_->failed()) fail(file_->error());
  }
  flushed_at_ = now_host;
  return error_.empty();
}

// Removes the files at once, to free disk space before the run ends.
void Hdf5Recorder::fail(const std::string& reason) {
  if (error_.empty()) error_ = reason;
  remove_files();
}

void Hdf5Recorder::discard() {
  if (!is_started_ || is_finished_) return;
  remove_files();
  is_discarded_ = true;
}

void Hdf5Recorder::remove_files() {
  if (file_ != nullptr) file_->abandon();
  file_.reset();
  ::unlink(new_path_.c_str());
  ::unlink(part_path_.c_str());
  claim_.reset();
}

// Writes the final file and renames it to `target`. The rows come from the `.part`, or from memory
// if there is no `.part`. On failure, returns false and sets `why_not`.
bool Hdf5Recorder::write_final(const std::string& target, std::string& why_not) {
  Hdf5File final_file{new_path_, Hdf5File::Mode::Create, storage()};
  const std::vector<size_t> counts = rows();
  write_head(final_file, &counts);
  file_ != nullptr ? final_file.copy_rows(*file_) : write_pending(final_file);
  write_end(final_file);
  final_file.close();
  if (final_file.failed()) {
    why_not = final_file.error();
  } else if (::rename(new_path_.c_str(), target.c_str()) != 0) {
    why_not = std::strerror(errno);
  }
  if (!why_not.empty()) ::unlink(new_path_.c_str());
  return why_not.empty();
}

void Hdf5Recorder::finish(const RunEnd& end) {
  ORRERY_CHECK(is_started_ && !is_finished_, "a run finishes once, after it started");
  flush_all();
  ORRERY_CHECK(!is_discarded_, "a discarded run has no end");
  set_attribute("complete", end.complete);
  set_attribute("digest", hex_of(end.digest));
  set_attribute("wall_seconds", end.wall_seconds);
  set_attribute("simulated_ns", end.simulated.ns);
  is_finished_ = true;
  if (!error_.empty()) throw_error(error_);
  const std::string& target = end.complete ? options_.path : part_path_;
  std::string why_not;
  if (write_final(target, why_not)) {
    if (file_ != nullptr) file_->abandon();
    if (target != part_path_) ::unlink(part_path_.c_str());  // left by this run, or by a killed one
  } else if (file_ != nullptr) {
    finish_part(target);
  } else {
    throw_error(why_not);
  }
  file_.reset();
  claim_.reset();
  file_path_ = target;
  if (options_.is_synced) sync_folder_of(target);
}

// Adds summary and attributes to the `.part`, then renames the `.part` to `target`.
void Hdf5Recorder::finish_part(const std::string& target) {
  ORRERY_MARK("record.end_in_place");
  file_->close();
  if (file_->failed()) fail(file_->error());
  if (!error_.empty()) throw_error(error_);
  file_ = std::make_unique<Hdf5File>(part_path_, Hdf5File::Mode::Modify, storage());
  write_end(*file_);
  file_->close();
  if (file_->failed()) fail(file_->error());
  if (error_.empty() && ::rename(part_path_.c_str(), target.c_str()) != 0) {
    fail(std::strerror(errno));
  }
  if (!error_.empty()) throw_error(error_);
}

}  // namespace orrery

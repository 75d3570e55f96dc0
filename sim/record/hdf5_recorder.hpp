// sim/record/hdf5_recorder.hpp -- the output file of a run: format version 1.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/record/hdf5_file.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// A run goes to `<path>.part`, which from `start` on (but see `part_after`) can be opened at any
// moment, also after a kill: h5py.File(part, "r", libver="latest", swmr=True), or after `h5clear
// -s`. It then holds all that was flushed and says `complete = false`. `finish` writes the figures
// of the end and moves the file to its name in one step, if the run is complete; else it stays
// `.part`, closed. What was at `path` before stays until then.
//
// Before `start` there is only an empty file under a third name, which claims the path: tables and
// texts are kept, then written into that in one go, so no half-made `.part` is ever seen. The end
// is made likewise: a new file takes over the chunks as they are, without the holes that flushing
// leaves. Where the disk has no room for both, the end is written into the `.part` itself. The
// finished file is the same, byte by byte, whatever was flushed when.
class Hdf5Recorder final : public Recorder {
 public:
  struct Options {
    std::string path{};
    int compression = 1;       // deflate level 0..9
    size_t chunk_rows = 8192;  // also bounded by 256 KiB a chunk
    // `poll` flushes when this has passed. The gap between two polls comes on top: with an engine
    // that polls at least once a second, no row is older than two seconds when a kill takes it.
    std::chrono::milliseconds flush_every{1000};
    // The `.part` of a run without readers may come later, or not at all if the run is over
    // before: rows lie in memory until this has passed, or there are 16 MiB.
    std::chrono::milliseconds part_after{0};
    bool is_synced = true;           // `finish` waits until the disk has everything
    std::vector<std::string> off{};  // globs of the tables that are not recorded: "/events/*"
  };

  // Throws RecordError when the file could not be written, or another run is writing it.
  explicit Hdf5Recorder(Options options);
  // Without `finish`, the rows so far stay in `.part`.
  ~Hdf5Recorder() override;

  TableId open(std::string_view path, std::string_view doc, std::span<const Column> columns,
               size_t row_bytes) override;
  void append(TableId table, const void* rows, size_t count) override;
  void set_attribute(std::string_view name, AttributeValue value) override;
  void write_text(std::string_view path, std::string_view text) override;
  void start() override;  // throws RecordError
  bool poll(std::chrono::steady_clock::time_point now_host) override;
  void finish(const RunEnd& end) override;  // throws RecordError; no file is left then
  // Drops the run and its file: for a mistake of the user found after `start`.
  void discard();
  // Where the rows are: `.part`, or the final name once a complete run has finished.
  const std::string& file_path() const { return file_path_; }
  // Started and not finished, and nothing went wrong.
  bool is_recording() const { return is_started_ && !is_finished_ && error_.empty(); }

 private:
  // An open descriptor with a lock on it that no reader and no HDF5 tool ever sees.
  class Claim;
  Hdf5File::Storage storage() const;
  Claim claim(const std::string& path, bool may_create) const;
  std::vector<size_t> rows() const;
  void write_head(Hdf5File& file, const std::vector<size_t>* rows) const;
  void write_pending(Hdf5File& file) const;
  void write_end(Hdf5File& file) const;
  void begin_part();
  void finish_part(const std::string& target);
  bool write_final(const std::string& target, std::string& why_not);
  void fail(const std::string& reason);
  void remove_files();
  [[noreturn]] void throw_error(const std::string& reason) const;

  Options options_;
  std::string part_path_, new_path_, file_path_;
  std::vector<TableSpec> tables_;
  std::vector<std::vector<std::byte>> pending_;  // rows of each table, before there is a `.part`
  size_t pending_bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::pair<std::string, AttributeValue>> attributes_;
  std::unique_ptr<Claim> claim_;
  std::unique_ptr<Hdf5File> file_;  // the `.part`, to the end or to the first failure
  std::string error_;
  bool is_started_ = false, is_finished_ = false, is_discarded_ = false;
  std::chrono::steady_clock::time_point started_at_, flushed_at_;
};

}  // namespace orrery

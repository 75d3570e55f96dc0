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

// A run writes to `<path>.part`, which appears at `start` (but see `part_after`). Readers can open
// this file at any time, also after a kill: with h5py.File(part, "r", libver="latest", swmr=True),
// or without swmr after `h5clear -s`. It holds everything flushed so far, and has
// `complete = false`.
//
// Before `start` there is only an empty file, `.part.new`, which claims the path. Tables and texts
// are buffered, then written to this file in one go before it is renamed to `.part`, so no
// incomplete `.part` is ever visible.
//
// `finish` writes another `.part.new`, with the final figures. It renames this file in one step: to
// `path` if the run is complete, else to `.part`. A former file at `path` stays until a complete
// run replaces it. `finish` copies full chunks of the `.part` as they are. The copy lacks the
// holes that flushes left in the `.part`, so its bytes do not depend on the times of the flushes.
// If the new file cannot be written, as on a full disk, `finish` adds the figures to the
// `.part` itself.
class Hdf5Recorder final : public Recorder {
 public:
  struct Options {
    std::string path{};
    int compression = 1;       // deflate level 0..9
    size_t chunk_rows = 8192;  // at most; a chunk also has at most 256 KiB
    // `poll` flushes if this time has passed since the last flush. So a kill loses at most the rows
    // of this time plus one interval between polls. Example: with 1 s and a poll each second, a
    // kill loses at most the rows of 2 s.
    std::chrono::milliseconds flush_every{1000};
    // The `.part` appears after this time, or once rows take 16 MiB; until then they stay in
    // memory. A run that completes earlier has no `.part`.
    std::chrono::milliseconds part_after{0};
    bool is_synced = true;           // `finish` waits until everything is on disk
    std::vector<std::string> off{};  // globs of tables that are off: "/events/*"
  };

  // Throws RecordError if the file cannot be written, or another run is writing it.
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
  void finish(const RunEnd& end) override;  // leaves no new file if it throws RecordError
  // Removes the `.part` file. Called if a mistake of the user is found after `start`, and for a
  // stopped run of a study.
  void discard();
  // The file with the rows: `.part`, or the final name once a complete run has finished.
  const std::string& file_path() const { return file_path_; }
  bool is_recording() const { return is_started_ && !is_finished_ && error_.empty(); }

 private:
  // An open descriptor, locked against other recorders. HDF5 readers and tools ignore the lock.
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
  std::vector<std::vector<std::byte>> pending_;  // rows of each table while there is no `.part`
  size_t pending_bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::pair<std::string, AttributeValue>> attributes_;
  std::unique_ptr<Claim> claim_;
  std::unique_ptr<Hdf5File> file_;  // the open `.part`; null before, at the end and after a failure
  std::string error_;
  bool is_started_ = false, is_finished_ = false, is_discarded_ = false;
  std::chrono::steady_clock::time_point started_at_, flushed_at_;
};

}  // namespace orrery

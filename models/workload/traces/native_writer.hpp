// models/workload/traces/native_writer.hpp -- a compact binary trace, made to be loaded fast.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/workload/traces/trace_job.hpp"

namespace orrery {

// Layout, integers little-endian: "ORRTRC01", the length of the facts (u32) and the facts as lines
// `key: value`; then blocks of a header (bytes, jobs, both u32, checksum of the bytes, u64) and
// their bytes; at the end a header of zero bytes and jobs with the number of jobs of the file in
// place of the checksum. A job is a run of varints; texts are written out where they are first
// met, and numbered.
class NativeWriter {
 public:
  using Fact = std::pair<std::string, std::string>;

  // Writes beside `path`, and replaces it only in finish(). Facts have no line ends in them.
  NativeWriter(std::string path, const std::vector<Fact>& facts);
  NativeWriter(const NativeWriter&) = delete;
  NativeWriter& operator=(const NativeWriter&) = delete;
  ~NativeWriter();  // removes an unfinished file

  void add(const TraceJob& job);  // submissions must not go back
  // False: the file could not be written; error() says why.
  [[nodiscard]] bool finish();
  const std::string& error() const { return error_; }
  int64_t jobs() const { return jobs_; }

 private:
  void put(uint64_t value);
  void put_span(int64_t ns);
  void put_text(std::string_view text);
  void put_raw(std::string_view text);
  void flush_block();

  std::string path_, part_;
  std::ofstream out_;
  std::string block_;
  uint32_t block_jobs_ = 0;
  int64_t jobs_ = 0;
  Time last_submit_;
  int64_t last_id_ = 0;
  int64_t last_row_ = 0;
  std::map<std::string, uint64_t, std::less<>> texts_;
  bool is_finished_ = false;
  std::string error_;
};

}  // namespace orrery

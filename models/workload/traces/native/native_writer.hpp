// models/workload/traces/native/native_writer.hpp -- writes a compact binary trace that loads fast.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"
#include "models/workload/traces/native/native_blocks.hpp"

namespace orrery {

// Writes submission, duration and id of each job. Writes any other field only if its value differs
// from the default.
class NativeWriter {
 public:
  using Fact = std::pair<std::string, std::string>;

  // Writes to a temporary file beside `path`; finish() moves this file to `path`. Facts must not
  // have line ends.
  NativeWriter(std::string path, const std::vector<Fact>& facts);

  void add(const TraceJob& job);  // submissions must not decrease
  // Returns false if the file could not be written; error() says why.
  [[nodiscard]] bool finish() { return blocks_.finish(); }
  const std::string& error() const { return blocks_.error(); }
  int64_t jobs() const { return blocks_.items(); }

 private:
  traces::native::BlockWriter blocks_;
  Time last_submit_;
  int64_t last_id_ = 0;
  int64_t last_row_ = 0;
};

}  // namespace orrery

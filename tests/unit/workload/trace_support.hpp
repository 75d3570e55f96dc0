// tests/unit/workload/trace_support.hpp -- traces in memory, in temporary files, and real ones.
#pragma once

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/traces/trace_reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery::test {

inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string xzipped(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

struct ReadTrace {
  std::vector<std::string> names;
  std::vector<TraceJob> jobs;  // without user, queue and models: the reader owns their texts
  TraceCounts counts;
  TraceFormat format = TraceFormat::Auto;
  std::string error;
};

inline ReadTrace read_all(TraceReader& reader) {
  ReadTrace out;
  while (const TraceJob* job = reader.next()) {
    out.names.emplace_back(job->name.view());
    out.jobs.push_back(*job);
    out.jobs.back().user = out.jobs.back().queue = out.jobs.back().gpu_models = {};
  }
  out.counts = reader.counts();
  out.format = reader.format();
  out.error = reader.error().value_or("");
  return out;
}

inline ReadTrace read_text(std::string_view text, TraceParams params = {}) {
  params.file = "jobs.csv";
  return read_all(*open_trace_text(params, text));
}

inline ReadTrace read_file(const std::filesystem::path& path, TraceParams params = {}) {
  params.file = path.string();
  return read_all(*open_trace(params));
}

// Reads the trace to its end. Returns the reader's notes, then the error if there is one.
inline std::vector<std::string> notes_of(TraceReader& reader) {
  while (reader.next() != nullptr) {
  }
  std::vector<std::string> out;
  for (const TraceNote& note : reader.notes()) {
    out.push_back(std::to_string(note.rows) + " " + note.what);
  }
  if (reader.error()) out.push_back(*reader.error());
  return out;
}

// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) { folder_.write("trace", content); }
  std::string path() const { return (folder_ / "trace").string(); }

 private:
  TemporaryFolder folder_;
};

// The path at which a real trace is expected. The file may be missing.
inline std::filesystem::path real_trace(std::string_view name) {
  const char* given = std::getenv("ORRERY_TRACES");
  const std::filesystem::path folder =
      given != nullptr ? given : ORRERY_SOURCE_DIR "/../shared/traces";
  return folder / name;
}

}  // namespace orrery::test

// Skips a test without its real trace. Real traces are not in the repository, because not all
// licences allow that.
#define ORRERY_NEED_TRACE(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no real trace at " << (path)

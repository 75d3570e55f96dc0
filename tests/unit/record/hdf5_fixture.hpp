// tests/unit/record/hdf5_fixture.hpp -- a folder for recordings, and h5py to read them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/record/channel.hpp"
#include "sim/record/hdf5_recorder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery::record_test {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

struct Row {
  int64_t number = 0;
  uint8_t low = 0;  // padding follows
  int64_t square = 0;
  static void columns(auto&& c) {
    c("number", &Row::number, "counts up");
    c("low", &Row::low, "its low byte");
    c("square", &Row::square, "number times number");
  }
};
inline Row row_of(int64_t i) { return {i, static_cast<uint8_t>(i & 255), i * i}; }

inline constexpr RunEnd kDone{
    .complete = true, .digest = 0xabcdef0123ULL, .wall_seconds = 1.5, .simulated = {7}};

class Hdf5RecorderTest : public testing::Test {
 protected:
  Hdf5Recorder::Options options(int compression = 1) const {
    Hdf5Recorder::Options made;
    made.path = path_;
    made.compression = compression;
    return made;
  }
  // Runs the Python `script`, in which `f` is the open `file`. `is_live`: h5py opens the file in
  // SWMR mode, for reading while it is still being written.
  static int python(const std::string& script, const std::string& file, bool is_live = false) {
    const std::string name = file + ".py";
    std::ofstream{name} << "import h5py, numpy as np, sys, time, math\nf = h5py.File('" << file
                        << (is_live ? "', 'r', libver='latest', swmr=True)\n" : "', 'r')\n")
                        << script;
    const int status = std::system(("/usr/bin/python3 " + name).c_str());
    return status;
  }
  static bool has_h5py() {
    static const bool has = std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") == 0;
    return has;
  }
  size_t files_left() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}));
  }

 private:
  test::TemporaryFolder made_;

 protected:
  const std::string folder_ = made_.path(), path_ = folder_ + "/run.h5";
};

#define ORRERY_NEEDS_H5PY() \
  if (!has_h5py()) GTEST_SKIP() << "NOT TESTED: install python3-h5py for /usr/bin/python3"

inline std::string bytes_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace orrery::record_test

#include "sim/record/hdf5_recorder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "sim/core/check.hpp"
#include "sim/record/channel.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

enum class Outcome : int16_t { Done, Failed, Hung };
constexpr std::array<std::string_view, 3> enum_names(Outcome) { return {"done", "failed", "hung"}; }

struct EveryType {
  bool flag = false;
  uint8_t u8 = 0;
  uint16_t u16 = 0;
  uint32_t u32 = 0;
  uint64_t u64 = 0;
  int32_t i32 = 0;
  int64_t i64 = 0;
  float f32 = 0;
  double f64 = 0;
  Time at;
  Duration took;
  Bytes size;
  Bandwidth rate;
  JobId job;
  Outcome outcome = Outcome::Done;
  FixedText<5> text;
  static void columns(auto&& c) {
    c("flag", &EveryType::flag, "a bool");
    c("u8", &EveryType::u8, "small", "GPU");
    c("u16", &EveryType::u16, "");
    c("u32", &EveryType::u32, "");
    c("u64", &EveryType::u64, "");
    c("i32", &EveryType::i32, "");
    c("i64", &EveryType::i64, "");
    c("f32", &EveryType::f32, "power, mean", "W");
    c("f64", &EveryType::f64, "");
    c("at", &EveryType::at, "when: é");
    c("took", &EveryType::took, "");
    c("size", &EveryType::size, "");
    c("rate", &EveryType::rate, "");
    c("job", &EveryType::job, "which");
    c("outcome", &EveryType::outcome, "how it ended");
    c("text", &EveryType::text, "a name");
  }
};

struct Row {
  int64_t number = 0;
  uint8_t low = 0;  // padding behind it
  int64_t square = 0;
  static void columns(auto&& c) {
    c("number", &Row::number, "counts up");
    c("low", &Row::low, "its low byte");
    c("square", &Row::square, "number times number");
  }
};
Row row_of(int64_t i) { return {i, static_cast<uint8_t>(i & 255), i * i}; }

constexpr RunEnd kDone{
    .complete = true, .digest = 0xabcdef0123ULL, .wall_seconds = 1.5, .simulated = {7}};

class Hdf5RecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "orrery_record_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/run.h5";
  }
  void TearDown() override { fs::remove_all(folder_); }

  Hdf5Recorder::Options options(int compression = 1) const {
    Hdf5Recorder::Options made;
    made.path = path_;
    made.compression = compression;
    return made;
  }
  // Runs Python on `script` with `f` opened from `file`; what a notebook would do.
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
  std::string folder_, path_;
};

#define ORRERY_NEEDS_H5PY() \
  if (!has_h5py()) GTEST_SKIP() << "NOT TESTED: install python3-h5py for /usr/bin/python3"

std::string bytes_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST_F(Hdf5RecorderTest, EveryColumnTypeComesBackWithItsUnitDocAndNames) {
  ORRERY_NEEDS_H5PY();
  Hdf5Recorder recorder{options()};
  Channel<EveryType> channel{recorder, "/events/every", "one of each"};
  recorder.start();
  channel.emit({true, 255, 65535, 4294967295, 18446744073709551615ULL, -5, -6, 0.5F, 1e300,
                Time{11}, Duration{12}, Bytes{13}, Bandwidth{14}, JobId{}, Outcome::Hung, "abcdé"});
  recorder.finish(kDone);
  EXPECT_EQ(python(R"(
t = f['/events/every']; r = t[0]
assert r['flag'] == True and t.dtype['flag'] == np.bool_
assert (r['u8'], r['u16'], r['u32'], r['u64']) == (255, 65535, 2**32 - 1, 2**64 - 1)
assert (r['i32'], r['i64'], r['f32'], r['f64']) == (-5, -6, 0.5, 1e300)
assert (r['at'], r['took'], r['size'], r['rate']) == (11, 12, 13, 14)
assert r['job'] == 2**32 - 1 and r['text'] == b'abcd' and r['outcome'] == 2
assert h5py.check_enum_dtype(t.dtype['outcome']) == {'done': 0, 'failed': 1, 'hung': 2}
unit = dict(zip(t.dtype.names, (u.decode() for u in t.attrs['units'])))
doc = dict(zip(t.dtype.names, (d.decode() for d in t.attrs['docs'])))
assert unit['at'] == 'ns' and unit['size'] == 'B' and unit['rate'] == 'bit/s', unit
assert unit['job'] == 'id' and unit['u8'] == 'GPU' and unit['f32'] == 'W' and unit['i32'] == ''
assert doc['at'] == 'when: é' and doc['job'] == 'which (4294967295: none)', doc
assert t.attrs['doc'] == b'one of each'
assert t.chunks and t.shuffle and t.compression == 'gzip' and t.compression_opts == 1
assert t.maxshape == (None,)
)",
                   path_),
            0);
}

TEST_F(Hdf5RecorderTest, AttributesTextsAndSummaryAreThere) {
  ORRERY_NEEDS_H5PY();
  Hdf5Recorder recorder{options()};
  recorder.set_attribute("version", std::string{"0.1.0"});
  recorder.set_attribute("seed", uint64_t{18446744073709551615ULL});
  recorder.write_text("/meta/scenario", "cluster: {}\n# é");
  recorder.write_text("/meta/resolved", "");
  Channel<Row> channel{recorder, "/jobs", "rows"};
  recorder.start();
  recorder.add_summary("utilisation", 0.25, "", "allocated share");
  recorder.add_summary("lost", int64_t{-3}, "GPU*s", "work lost");
  recorder.finish(kDone);
  EXPECT_EQ(python(R"(
a = f.attrs
assert a['format'] == b'orrery' and a['format_version'] == 1 and a['version'] == b'0.1.0'
assert a['seed'] == 2**64 - 1 and a['digest'] == b'000000abcdef0123', a['digest']
assert a['complete'] == True and a['wall_seconds'] == 1.5 and a['simulated_ns'] == 7
assert f['/meta/scenario'][()].decode() == 'cluster: {}\n# é'
assert f['/meta/resolved'][()] == b''
s = f['/summary']
assert s['utilisation'][()] == 0.25 and s['utilisation'].attrs['doc'] == b'allocated share'
assert s['lost'][()] == -3 and s['lost'].attrs['unit'] == b'GPU*s'
assert f['/jobs'].shape == (0,)
)",
                   path_),
            0);
}

TEST_F(Hdf5RecorderTest, AllRowsArriveInOrderWhateverTheFlushesBetween) {
  ORRERY_NEEDS_H5PY();
  Hdf5Recorder recorder{options()};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  auto clock = steady_clock::now();
  for (int64_t i = 0; i < 100'000; ++i) {
    channel.emit(row_of(i));
    if (i % 777 == 0) {
      ASSERT_TRUE(recorder.poll(clock += std::chrono::seconds{2}));
    }
  }
  recorder.finish(kDone);
  EXPECT_EQ(python(R"(
t = f['/rows'][:]; n = np.arange(100000)
assert len(t) == 100000 and (t['number'] == n).all() and (t['square'] == n * n).all()
assert (t['low'] == n % 256).all() and t.dtype.itemsize == 17
)",
                   path_),
            0);
}

TEST_F(Hdf5RecorderTest, EqualRowsGiveEqualFilesWhateverTheFlushes) {
  std::array<std::string, 2> contents;
  for (const int64_t flush_after : {0, 500}) {
    Hdf5Recorder recorder{options()};
    Channel<Row> channel{recorder, "/a/b/rows", "rows"};
    recorder.start();
    auto clock = steady_clock::now();
    for (int64_t i = 0; i < 20'000; ++i) {
      channel.emit(row_of(i));
      if (flush_after != 0 && i % flush_after == 0) {
        ASSERT_TRUE(recorder.poll(clock += std::chrono::seconds{2}));
      }
    }
    recorder.add_summary("x", 1.0, "", "");
    recorder.finish(kDone);
    contents[flush_after != 0] = bytes_of(path_);
    if (flush_after == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  }
  EXPECT_GT(contents[0].size(), 1000U);
  EXPECT_TRUE(contents[0] == contents[1]);
}

TEST_F(Hdf5RecorderTest, TheNameAppearsOnlyWhenTheRunIsComplete) {
  std::ofstream{path_} << "former run";
  Hdf5Recorder recorder{options()};
  EXPECT_EQ(files_left(), 1U);  // before the start: nothing new
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  EXPECT_EQ(recorder.file_path(), path_ + ".part");
  EXPECT_TRUE(fs::exists(path_ + ".part"));
  EXPECT_EQ(bytes_of(path_), "former run");
  channel.emit(row_of(1));
  recorder.finish(kDone);
  EXPECT_EQ(recorder.file_path(), path_);
  EXPECT_EQ(bytes_of(path_).substr(1, 3), "HDF");
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(Hdf5RecorderTest, AnInterruptedRunIsAClosedPartThatSaysSo) {
  ORRERY_NEEDS_H5PY();
  std::ofstream{path_} << "former run";
  Hdf5Recorder recorder{options()};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  channel.emit(row_of(1));
  recorder.finish({.complete = false, .digest = 1, .wall_seconds = 1, .simulated = {1}});
  EXPECT_EQ(bytes_of(path_), "former run");
  EXPECT_EQ(python("assert not f.attrs['complete'] and len(f['/rows']) == 1\n", path_ + ".part"),
            0);
}

TEST_F(Hdf5RecorderTest, WithoutRoomForASecondFileTheEndIsWrittenInPlace) {
  ORRERY_NEEDS_H5PY();
  const uint64_t before = mark_count("record.end_in_place");
  Hdf5Recorder recorder{options()};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  for (int64_t i = 0; i < 10'000; ++i) channel.emit(row_of(i));
  fs::create_directory(path_ + ".part.new");  // as good as a full disk
  recorder.add_summary("x", 2.0, "W", "");
  recorder.finish(kDone);
  fs::remove(path_ + ".part.new");
  EXPECT_EQ(files_left(), 1U);
  EXPECT_EQ(python(R"(
assert f.attrs['complete'] and f.attrs['wall_seconds'] == 1.5 and f['/summary/x'][()] == 2
assert (f['/rows']['number'] == np.arange(10000)).all()
)",
                   path_),
            0);
  EXPECT_EQ(mark_count("record.end_in_place"), before + 1);
}

TEST_F(Hdf5RecorderTest, ARunThatUnwindsKeepsItsRowsInThePart) {
  ORRERY_NEEDS_H5PY();
  {
    Hdf5Recorder recorder{options()};
    Channel<Row> channel{recorder, "/rows", "rows"};
    recorder.start();
    channel.emit(row_of(0));
  }
  EXPECT_EQ(python("assert not f.attrs['complete'] and len(f['/rows']) == 1\n", path_ + ".part"),
            0);
}

TEST_F(Hdf5RecorderTest, ADiscardedRunLeavesNoFile) {
  Hdf5Recorder recorder{options()};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  channel.emit(row_of(1));
  recorder.discard();
  channel.emit(row_of(2));
  EXPECT_EQ(files_left(), 0U);
}

TEST_F(Hdf5RecorderTest, ATableSwitchedOffIsNotInTheFile) {
  auto chosen = options();
  chosen.off = {"/events/*"};
  Hdf5Recorder recorder{chosen};
  EXPECT_FALSE((Channel<Row>{recorder, "/events/faults", ""}).is_on());
  EXPECT_TRUE((Channel<Row>{recorder, "/jobs", ""}).is_on());
}

// Lets a child write until `at`, kills it, and returns when it is gone.
void write_and_be_killed(const Hdf5Recorder::Options& options, std::chrono::microseconds at) {
  const pid_t child = ::fork();
  if (child == 0) {
    Hdf5Recorder recorder{options};
    Channel<Row> channel{recorder, "/rows", "rows"};
    recorder.start();
    for (int64_t i = 0;; ++i) {
      channel.emit(row_of(i));
      if (i % 3'000 == 0 && !recorder.poll(steady_clock::now())) ::_exit(1);
    }
  }
  while (!fs::exists(options.path + ".part")) std::this_thread::yield();
  std::this_thread::sleep_for(at);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

constexpr const char* kCheckPrefix = R"(
assert not f.attrs['complete'] and math.isnan(f.attrs['wall_seconds'])
t = f['/rows'][:]; n = np.arange(len(t))
assert (t['number'] == n).all() and (t['square'] == n * n).all(), len(t)
)";

TEST_F(Hdf5RecorderTest, AKilledRunOpensWithEverythingFlushedAndNoRowInvented) {
  ORRERY_NEEDS_H5PY();
  for (const int at_us : {0, 500, 3'000, 20'000, 50'000, 77'000, 150'000}) {
    auto chosen = options();
    chosen.flush_every = std::chrono::milliseconds{1};
    write_and_be_killed(chosen, std::chrono::microseconds{at_us});
    const std::string part = path_ + ".part";
    std::string check = kCheckPrefix;
    if (at_us >= 50'000) check += "assert len(t) > 3000\n";
    ASSERT_EQ(python(check, part, true), 0) << "with swmr, killed after " << at_us << " us";
    ASSERT_EQ(std::system(("h5clear -s " + part).c_str()), 0);
    ASSERT_EQ(python(check, part), 0) << "after h5clear, killed after " << at_us << " us";
  }
}

TEST_F(Hdf5RecorderTest, AReaderFollowsLive) {
  ORRERY_NEEDS_H5PY();
  Hdf5Recorder recorder{options()};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  int status = -1;
  std::thread reader{[&] {
    status = python(R"(
t = f['/rows']; seen = []
for _ in range(2000):
    t.refresh(); n = len(t)
    assert (t['number'] == np.arange(n)).all()
    if not seen or n > seen[-1]: seen.append(n)
    if len(seen) >= 4: sys.exit(0)
    time.sleep(0.005)
sys.exit(str(seen))
)",
                    path_ + ".part", true);
  }};
  auto clock = steady_clock::now();
  for (int64_t i = 0; status == -1 && i < 20'000; ++i) {
    channel.emit(row_of(i));
    if (i % 10 == 0) {
      EXPECT_TRUE(recorder.poll(clock += std::chrono::seconds{2}));
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
  reader.join();
  EXPECT_EQ(status, 0);
  recorder.finish(kDone);
}

std::string error_of(const std::string& path) {
  try {
    Hdf5Recorder recorder{{.path = path}};
  } catch (const RecordError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Hdf5RecorderTest, APathThatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_EQ(error_of(folder_ + "/no/run.h5"),
            "cannot write '" + folder_ + "/no/run.h5': No such file or directory");
  EXPECT_EQ(error_of(folder_), "cannot write '" + folder_ + "': Is a directory");
  EXPECT_EQ(error_of("/dev/null"), "cannot write '/dev/null': not a regular file");
  EXPECT_EQ(error_of(""), "cannot write '': the path is empty");
  EXPECT_NE(error_of("/proc/run.h5"), "");
  EXPECT_EQ(error_of(folder_ + "/" + std::string(300, 'x')).substr(0, 5), "canno");
  std::ofstream{folder_ + "/file"} << "x";
  EXPECT_EQ(error_of(folder_ + "/file/run.h5"),
            "cannot write '" + folder_ + "/file/run.h5': Not a directory");
  if (::geteuid() != 0) {  // root may write anywhere
    ::chmod(folder_.c_str(), 0555);
    EXPECT_EQ(error_of(path_), "cannot write '" + path_ + "': Permission denied");
    ::chmod(folder_.c_str(), 0755);
  }
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(Hdf5RecorderTest, TwoRunsCannotWriteTheSameFileAtOnce) {
  Hdf5Recorder recorder{options()};
  recorder.start();
  EXPECT_EQ(error_of(path_), "cannot write '" + path_ + "': another run is writing it");
  recorder.finish(kDone);
  EXPECT_EQ(error_of(path_), "");
}

// Runs `body` in a child whose files may not grow beyond `bytes`; its exit status.
template <class Body>
int with_file_limit(rlim_t bytes, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const struct rlimit limit { bytes, bytes };
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::exit(body());  // exit handlers run: HDF5's too
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

TEST_F(Hdf5RecorderTest, AFullDiskEndsTheRunWithAClearErrorAndNoFile) {
  std::ofstream{path_} << "former run";
  for (const rlim_t limit : {0U, 100U, 2'000U, 5'000U, 20'000U, 300'000U}) {
    const int status = with_file_limit(limit, [&] {
      try {
        Hdf5Recorder recorder{options(0)};
        Channel<Row> channel{recorder, "/rows", "rows"};
        Channel<EveryType> other{recorder, "/other", "rows"};
        recorder.start();
        auto clock = steady_clock::now();
        bool good = true;
        for (int64_t i = 0; i < 200'000; ++i) {
          channel.emit(row_of(i));
          other.emit({});
          if (i % 1'000 == 0) good = recorder.poll(clock += std::chrono::seconds{1});
        }
        if (good) return 2;
        recorder.finish(kDone);
      } catch (const RecordError& error) {
        return std::string{error.what()} == "cannot write '" + path_ + "': File too large" ? 74 : 3;
      }
      return 4;
    });
    EXPECT_EQ(status, 74) << "at " << limit << " bytes";
    EXPECT_EQ(files_left(), 1U);
    EXPECT_EQ(bytes_of(path_), "former run");
  }
}

TEST_F(Hdf5RecorderTest, OpeningAfterTheStartIsABug) {
  Hdf5Recorder recorder{options()};
  recorder.start();
  EXPECT_DEATH((Channel<Row>{recorder, "/late", ""}), "before the run starts");
}

}  // namespace
}  // namespace orrery

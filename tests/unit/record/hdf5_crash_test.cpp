// Files of killed runs, files that are read while they are written, full disks, and paths that
// cannot be written.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/unit/record/hdf5_fixture.hpp"

namespace orrery::hdf5_crash_test {
namespace {

using namespace record_test;

class Hdf5CrashTest : public Hdf5RecorderTest {};

// Starts a child process that writes and flushes rows. Waits until the child's file exists and the
// child has flushed at least `rows_min` rows, then sleeps for `at` and kills the child. Returns
// the number of rows that the child has reported as flushed.
int64_t write_and_be_killed(const Hdf5Recorder::Options& options, std::chrono::microseconds at,
                            int64_t rows_min) {
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto* const flushed = new (shared) std::atomic<int64_t>{0};
  const std::string part = options.path + ".part";
  fs::remove(part);  // the file of an earlier call
  const pid_t child = ::fork();
  if (child == 0) {
    Hdf5Recorder recorder{options};
    Channel<Row> channel{recorder, "/rows", "rows"};
    recorder.start();
    for (int64_t i = 0;; ++i) {
      channel.emit(row_of(i));
      if (i % 3'000 != 0) continue;
      if (!recorder.poll(steady_clock::now())) ::_exit(1);
      *flushed = i + 1;
    }
  }
  int status = 0;
  while (!fs::exists(part) || *flushed < rows_min) {
    if (::waitpid(child, &status, WNOHANG) == child) {
      ADD_FAILURE() << "the child ended by itself, with status " << status;
      return 0;
    }
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(at);
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  const int64_t rows = *flushed;
  ::munmap(shared, sizeof *flushed);
  return rows;
}

constexpr const char* kCheckPrefix = R"(
assert not f.attrs['complete'] and math.isnan(f.attrs['wall_seconds'])
t = f['/rows'][:]; n = np.arange(len(t))
assert (t['number'] == n).all() and (t['square'] == n * n).all(), len(t)
)";

TEST_F(Hdf5CrashTest, AKilledRunOpensWithEverythingFlushedAndNoRowInvented) {
  ORRERY_NEEDS_H5PY();
  for (const int at_us : {0, 500, 3'000, 20'000, 50'000, 77'000, 150'000}) {
    auto chosen = options();
    chosen.flush_every = std::chrono::milliseconds{0};  // each poll flushes
    const int64_t flushed =
        write_and_be_killed(chosen, std::chrono::microseconds{at_us}, at_us >= 50'000 ? 30'000 : 0);
    const std::string part = path_ + ".part";
    const std::string check =
        kCheckPrefix + ("assert len(t) >= " + std::to_string(flushed) + ", len(t)\n");
    ASSERT_EQ(python(check, part, true), 0) << "with swmr, killed after " << at_us << " us";
    ASSERT_EQ(std::system(("h5clear -s " + part).c_str()), 0);
    ASSERT_EQ(python(check, part), 0) << "after h5clear, killed after " << at_us << " us";
  }
}

TEST_F(Hdf5CrashTest, AReaderFollowsLive) {
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

TEST_F(Hdf5CrashTest, APathThatCannotBeWrittenIsRefusedAtOnce) {
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
  if (::geteuid() != 0) {  // root may write to any folder
    ::chmod(folder_.c_str(), 0555);
    EXPECT_EQ(error_of(path_), "cannot write '" + path_ + "': Permission denied");
    ::chmod(folder_.c_str(), 0755);
  }
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(Hdf5CrashTest, TwoRunsCannotWriteTheSameFileAtOnce) {
  Hdf5Recorder recorder{options()};
  recorder.start();
  EXPECT_EQ(error_of(path_), "cannot write '" + path_ + "': another run is writing it");
  recorder.finish(kDone);
  EXPECT_EQ(error_of(path_), "");
}

// Runs `body` in a child process whose files may not grow beyond `bytes`. Returns the child's exit
// status. The child closes HDF5 like HDF5's exit handler would. It runs no other exit handler: the
// leak check would wait for threads that do not exist after a fork.
template <class Body>
int with_file_limit(rlim_t bytes, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const struct rlimit limit { bytes, bytes };
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const int result = body();
    ::H5close();
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

TEST_F(Hdf5CrashTest, AFullDiskEndsTheRunWithAClearErrorAndNoFile) {
  std::ofstream{path_} << "former run";
  struct Disk {
    rlim_t limit;
    bool is_followed = true;
  };
  for (const auto& [limit, is_followed] :
       {Disk{0}, Disk{100}, Disk{2'000}, Disk{5'000}, Disk{20'000}, Disk{300'000}, Disk{0, false},
        Disk{20'000, false}, Disk{300'000, false}}) {
    const int status = with_file_limit(limit, [&] {
      try {
        auto chosen = options(0);
        if (!is_followed) chosen.part_after = std::chrono::hours{1};
        Hdf5Recorder recorder{chosen};
        Channel<Row> channel{recorder, "/rows", "rows"};
        Channel<Row> other{recorder, "/other", "rows"};
        recorder.start();
        auto clock = steady_clock::now();
        bool good = true;
        for (int64_t i = 0; i < 200'000; ++i) {
          channel.emit(row_of(i));
          other.emit({});
          if (i % 1'000 == 0) good = recorder.poll(clock += std::chrono::seconds{1});
        }
        if (good && is_followed) return 2;
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

}  // namespace
}  // namespace orrery::hdf5_crash_test

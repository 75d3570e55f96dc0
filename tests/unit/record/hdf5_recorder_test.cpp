#include "sim/record/hdf5_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>

#include "sim/core/check.hpp"
#include "tests/unit/record/hdf5_fixture.hpp"

namespace orrery::hdf5_recorder_test {
namespace {

using namespace record_test;

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
  constexpr std::chrono::milliseconds kAtOnce{0}, kLater{3'000}, kNever{1'000'000};
  struct Way {
    std::chrono::milliseconds part_after;
    int64_t flush_after;
    int compression;
  };
  std::array<std::string, 2> first;  // contents of the first file with each compression
  for (const Way& way : {Way{kAtOnce, 0, 1}, Way{kAtOnce, 500, 1}, Way{kLater, 500, 1},
                         Way{kNever, 500, 1}, Way{kAtOnce, 300, 0}, Way{kNever, 300, 0}}) {
    auto chosen = options(way.compression);
    chosen.part_after = way.part_after;
    Hdf5Recorder recorder{chosen};
    Channel<Row> few{recorder, "/a/few", "rows"};
    Channel<Row> channel{recorder, "/a/b/rows", "rows"};
    Channel<Row> none{recorder, "/none", "rows"};
    Channel<Row> full{recorder, "/full", "as many as fill a chunk"};
    recorder.start();
    auto clock = steady_clock::now();
    for (int64_t i = 0; i < 20'000; ++i) {
      channel.emit(row_of(i));
      if (i < 8'192) full.emit(row_of(-i));
      if (i % 4'000 == 0) few.emit(row_of(i));
      if (way.flush_after != 0 && i % way.flush_after == 0) {
        ASSERT_TRUE(recorder.poll(clock += std::chrono::seconds{2}));
      }
    }
    recorder.add_summary("x", 1.0, "", "");
    recorder.finish(kDone);
    std::string& expected = first[static_cast<size_t>(way.compression)];
    if (expected.empty()) {
      expected = bytes_of(path_);
      std::this_thread::sleep_for(std::chrono::milliseconds{1100});
    }
    EXPECT_TRUE(bytes_of(path_) == expected) << way.part_after.count() << " ms";
  }
  EXPECT_GT(first[1].size(), 1000U);
  EXPECT_GT(first[0].size(), first[1].size());
}

TEST_F(Hdf5RecorderTest, AShortTableHasAShortChunk) {
  ORRERY_NEEDS_H5PY();
  Hdf5Recorder recorder{options()};
  Channel<Row> few{recorder, "/few", "rows"};
  Channel<Row> many{recorder, "/many", "rows"};
  recorder.start();
  for (int64_t i = 0; i < 10'000; ++i) many.emit(row_of(i));
  for (int64_t i = 0; i < 5; ++i) few.emit(row_of(i));
  recorder.finish(kDone);
  EXPECT_EQ(python(R"(
assert f['/few'].chunks == (5,) and list(f['/few']['square']) == [0, 1, 4, 9, 16]
assert f['/many'].chunks == (8192,) and (f['/many']['number'] == np.arange(10000)).all()
)",
                   path_),
            0);
}

TEST_F(Hdf5RecorderTest, ARunThatNobodyFollowsHasAPartOnceItLasts) {
  auto chosen = options();
  chosen.part_after = std::chrono::seconds{5};
  Hdf5Recorder recorder{chosen};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  const auto began = steady_clock::now();
  channel.emit(row_of(0));
  ASSERT_TRUE(recorder.poll(began + std::chrono::seconds{1}));
  EXPECT_FALSE(fs::exists(path_ + ".part"));
  ASSERT_TRUE(recorder.poll(began + std::chrono::seconds{6}));
  EXPECT_TRUE(fs::exists(path_ + ".part"));
  recorder.finish(kDone);
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(Hdf5RecorderTest, ThePartOfAKilledRunGoesWithTheNextThatEnds) {
  std::ofstream{path_ + ".part"} << "killed";
  auto chosen = options();
  chosen.part_after = std::chrono::hours{1};
  Hdf5Recorder recorder{chosen};
  recorder.start();
  recorder.finish(kDone);
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(Hdf5RecorderTest, RowsInMemoryAreBounded) {
  auto chosen = options();
  chosen.part_after = std::chrono::hours{1};
  Hdf5Recorder recorder{chosen};
  Channel<Row> channel{recorder, "/rows", "rows"};
  recorder.start();
  constexpr int64_t kRows = (17 << 20) / sizeof(Row);
  for (int64_t i = 0; i < kRows; ++i) channel.emit(row_of(i));
  EXPECT_TRUE(fs::exists(path_ + ".part"));
  recorder.discard();
  EXPECT_EQ(files_left(), 0U);
}

TEST_F(Hdf5RecorderTest, TheNameAppearsOnlyWhenTheRunIsComplete) {
  std::ofstream{path_} << "former run";
  { const Hdf5Recorder never_started{options()}; }
  EXPECT_EQ(files_left(), 1U);
  Hdf5Recorder recorder{options()};
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
  // A folder of this name blocks the second file, as a full disk would.
  fs::create_directory(path_ + ".part.new");
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

TEST_F(Hdf5RecorderTest, NothingIsWrittenThroughASymbolicLink) {
  const std::string other = path_ + ".other";
  for (const char* const ending : {".part", ".part.new"}) {
    std::ofstream{other} << "precious";
    fs::create_symlink(other, path_ + ending);
    EXPECT_THAT([&] { Hdf5Recorder{options()}; },
                testing::ThrowsMessage<RecordError>(testing::HasSubstr("is a symbolic link")));
    fs::remove(path_ + ending);
    fs::remove(path_ + ".part.new");
    EXPECT_EQ(bytes_of(other), "precious");
  }
}

TEST_F(Hdf5RecorderTest, NorThroughOneThatComesWhileItRuns) {
  const std::string other = path_ + ".other";
  std::ofstream{other} << "precious";
  Hdf5Recorder recorder{options()};
  fs::remove(path_ + ".part.new");
  fs::create_symlink(other, path_ + ".part.new");
  EXPECT_THROW(recorder.start(), RecordError);
  EXPECT_EQ(bytes_of(other), "precious");
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

TEST_F(Hdf5RecorderTest, OpeningAfterTheStartIsABug) {
  Hdf5Recorder recorder{options()};
  recorder.start();
  EXPECT_THAT(([&] {
                Channel<Row>{recorder, "/late", ""};
              }),
              ::testing::ThrowsMessage<CheckFailed>(::testing::HasSubstr("before the run starts")));
}

}  // namespace
}  // namespace orrery::hdf5_recorder_test

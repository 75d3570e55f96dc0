// Tar archives. An archive of a single file is read like that file. The archive may be compressed.
#include "models/workload/traces/io/tar.hpp"

#include <string>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::gzipped;
using test::read_text;

const std::string kTwoJobs = "job_id,arrival_s,service_sec,gpu_count\n1#0,0.0,5,8\n2#1,1.0,5,8\n";

std::string octal(uint64_t value, size_t width) {
  std::string digits;
  for (; width > 0; --width, value /= 8) digits.insert(0, 1, static_cast<char>('0' + value % 8));
  return digits;
}

std::string entry(std::string_view name, std::string_view content, char type = '0',
                  std::string_view magic = "ustar") {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, octal(content.size(), 11));
  header.replace(148, 8, 8, ' ');
  header[156] = type;
  header.replace(257, magic.size(), magic);
  uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  header.replace(148, 7, octal(sum, 6) + '\0');
  std::string padded{content};
  padded.resize((content.size() + 511) / 512 * 512);
  return header + padded;
}
const std::string kEnd(1024, '\0');

TEST(Tar, TheFileInAnArchiveIsReadPackedOrNot) {
  const std::string archive = entry("folder/", "", '5') + entry("long", "a longer name", 'L') +
                              entry("folder/._jobs.csv", "a note", '0') +
                              entry("folder/jobs.csv", kTwoJobs) + kEnd;
  for (const std::string& text : {archive, gzipped(archive), test::xzipped(archive)}) {
    const test::ReadTrace trace = read_text(text);
    EXPECT_EQ(trace.error, "");
    EXPECT_EQ(trace.jobs.size(), 2U);
  }
  // The blocks that end an archive may be missing.
  EXPECT_EQ(read_text(entry("jobs.csv", kTwoJobs)).error, "");
}

TEST(Tar, ArchivesOfTheOldKindAreRead) {
  const std::string archive = entry("jobs.csv", kTwoJobs, '\0', "") + kEnd;
  for (const std::string& text : {archive, gzipped(archive)}) {
    const test::ReadTrace trace = read_text(text);
    EXPECT_EQ(trace.error, "");
    EXPECT_EQ(trace.jobs.size(), 2U);
  }
}

TEST(Tar, ArchivesWithoutAPlainFileSayWhatTheyHold) {
  const std::string sparse = "the tar archive holds a sparse file: pack it without --sparse";
  EXPECT_NE(read_text(entry("jobs.csv", kTwoJobs, 'S') + kEnd).error.find(sparse),
            std::string::npos);
  EXPECT_NE(read_text(entry("GNUSparseFile.12/jobs.csv", kTwoJobs) + kEnd).error.find(sparse),
            std::string::npos);
  EXPECT_NE(read_text(entry("folder/", "", '5') + kEnd).error.find("the tar archive holds no file"),
            std::string::npos);
}

TEST(Tar, WhatCannotBeReadIsReported) {
  const std::string one = entry("a.csv", kTwoJobs);
  EXPECT_EQ(read_text(one + entry("b.csv", kTwoJobs) + kEnd).error,
            "jobs.csv:4: the tar archive holds several files: unpack it and name one");
  EXPECT_EQ(read_text(one.substr(0, 560)).error, "jobs.csv:2: the tar archive ends too early");
  std::string damaged = one;
  damaged[0] = 'b';
  EXPECT_NE(read_text(damaged).error.find("the tar archive is damaged"), std::string::npos);
  const std::string cut = gzipped(one + kEnd);
  EXPECT_NE(read_text(cut.substr(0, cut.size() - 6)).error.find("the gzip data ends too early"),
            std::string::npos);
}

TEST(Tar, ALongFileIsReadInBlocks) {
  std::string jobs = kTwoJobs.substr(0, kTwoJobs.find('\n') + 1);
  for (int i = 0; i < 60'000; ++i) {
    jobs += std::to_string(i) + "#0," + std::to_string(i) + ".0,5,8\n";
  }
  const test::ReadTrace trace = read_text(gzipped(entry("jobs.csv", jobs) + kEnd));
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs.size(), 60'000U);
}

}  // namespace
}  // namespace orrery

// The native format: reading returns what was written, and damage is detected. Also SHA-256,
// filters and statistics of traces.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/workload/traces/io/sha256.hpp"
#include "models/workload/traces/native/native_layout.hpp"
#include "models/workload/traces/native/native_writer.hpp"
#include "models/workload/traces/trace_statistics.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_file;
using test::read_text;
using test::ReadTrace;
using test::real_trace;
using test::TemporaryFile;
using namespace literals;

std::string bytes_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return text.str();
}

std::vector<TraceJob> odd_jobs() {
  TraceJob plain;
  plain.id = 7;
  plain.row = 1;
  plain.name = TraceName{"7"};
  TraceJob full;
  full.id = -5;
  full.row = 900;
  full.name = TraceName{"application_1506638472019_1"};
  full.submit = Time{1'500'000'001};
  full.duration = Duration{123'456'789};
  full.wait_recorded = 3_s;
  full.requested_time = 1_h;
  full.deadline = 2_h;
  full.after = 7;
  full.think_time = 90_s;
  full.pods = 3;
  full.gpus_per_pod = 8;
  full.gpus_last_pod = 5;
  full.gpu_milli = 250;
  full.cpu_milli_per_pod = 12'500;
  full.memory_per_pod = 64_GiB;
  full.user = "alice";
  full.group = "g";
  full.queue = "vcA";
  full.application = "bert";
  full.gpu_models = "A|B";
  full.priority = TracePriority::Low;
  full.status = TraceStatus::NodeFail;
  TraceJob again = full;
  again.submit = Time{9'000'000'000'000'000'000};
  again.row = 2;
  again.user = "bob";
  return {plain, full, again};
}

std::string native_text() {
  const TemporaryFile file{""};
  NativeWriter writer{file.path(), {{"source", "a.csv"}, {"set", "queues=[vcA]"}}};
  for (const TraceJob& job : odd_jobs()) writer.add(job);
  EXPECT_TRUE(writer.finish()) << writer.error();
  return bytes_of_file(file.path());
}

TEST(NativeTrace, EveryFieldComesBack) {
  const std::string text = native_text();
  const auto reader = open_trace_text({.file = "a.otr"}, text);
  for (const TraceJob& wrote : odd_jobs()) {
    const TraceJob* job = reader->next();
    ASSERT_NE(job, nullptr) << reader->error().value_or("");
    EXPECT_EQ(job->id, wrote.id);
    EXPECT_EQ(job->row, wrote.row);
    EXPECT_EQ(job->name.view(), wrote.name.view());
    EXPECT_EQ(job->submit, wrote.submit);
    EXPECT_EQ(job->duration, wrote.duration);
    EXPECT_EQ(job->wait_recorded, wrote.wait_recorded);
    EXPECT_EQ(job->requested_time, wrote.requested_time);
    EXPECT_EQ(job->deadline, wrote.deadline);
    EXPECT_EQ(job->after, wrote.after);
    EXPECT_EQ(job->think_time, wrote.think_time);
    EXPECT_EQ(job->pods, wrote.pods);
    EXPECT_EQ(job->gpus_per_pod, wrote.gpus_per_pod);
    EXPECT_EQ(job->gpus_last_pod, wrote.gpus_last_pod);
    EXPECT_EQ(job->gpu_milli, wrote.gpu_milli);
    EXPECT_EQ(job->cpu_milli_per_pod, wrote.cpu_milli_per_pod);
    EXPECT_EQ(job->memory_per_pod, wrote.memory_per_pod);
    EXPECT_EQ(job->user, wrote.user);
    EXPECT_EQ(job->group, wrote.group);
    EXPECT_EQ(job->queue, wrote.queue);
    EXPECT_EQ(job->application, wrote.application);
    EXPECT_EQ(job->gpu_models, wrote.gpu_models);
    EXPECT_EQ(job->priority, wrote.priority);
    EXPECT_EQ(job->status, wrote.status);
  }
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_FALSE(reader->error());
  EXPECT_EQ(reader->format(), TraceFormat::Native);
  ASSERT_EQ(reader->facts().size(), 2U);
  EXPECT_EQ(reader->facts()[1].second, "queues=[vcA]");
}

TEST(NativeTrace, AnyChangedOrMissingByteIsFound) {
  const std::string text = native_text();
  const size_t facts_end = text.find("vcA]\n") + 5;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    const ReadTrace trace = read_text(changed);
    if (i < 12 || i >= facts_end) {
      EXPECT_NE(trace.error, "") << "byte " << i;
    }
    EXPECT_NE(read_text(std::string_view{text}.substr(0, i)).error, "") << "cut at " << i;
  }
  EXPECT_NE(read_text(text + "x").error, "");
}

// Changes bytes of a job in a block and recomputes the checksum, so the reader must check the job
// itself.
TEST(NativeTrace, WhatCouldNotHaveBeenWrittenIsRefusedOrAJob) {
  const std::string good = native_text();
  const size_t block = good.find("vcA]\n") + 5 + traces::native::kBlockHeader;
  const size_t end = good.size() - traces::native::kBlockHeader;
  int refused = 0, taken = 0;
  for (size_t i = block; i < end; ++i) {
    for (int value = 0; value < 256; value += 3) {
      std::string changed = good;
      changed[i] = static_cast<char>(value);
      const uint64_t sum =
          traces::native::checksum(std::string_view{changed}.substr(block, end - block));
      std::memcpy(&changed[block - sizeof sum], &sum, sizeof sum);
      const ReadTrace trace = read_text(changed);
      Time last;
      for (const TraceJob& job : trace.jobs) {
        ASSERT_GE(job.submit, last);
        ASSERT_GE(std::min({job.duration, job.requested_time, job.think_time}).ns, -1);
        ASSERT_GE(job.pods, 1);
        ASSERT_GE(std::min({job.gpus_last_pod, job.gpus_per_pod - job.gpus_last_pod}), 0);
        ASSERT_TRUE(job.gpu_milli >= 1 && job.gpu_milli <= 1000) << job.gpu_milli;
        ASSERT_GE(std::min(job.cpu_milli_per_pod, job.memory_per_pod.count), 0);
        ASSERT_GE(job.row, 0);
        last = job.submit;
      }
      if (trace.error.empty()) {
        ASSERT_EQ(trace.jobs.size(), odd_jobs().size());
      }
      ASSERT_EQ(trace.error.find("checksum"), std::string::npos) << trace.error;
      ++(trace.error.empty() ? taken : refused);
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(taken, 0);
}

TEST(NativeTrace, AnUnfinishedFileReplacesNothing) {
  const TemporaryFile file{"before"};
  {
    NativeWriter writer{file.path(), {}};
    writer.add(odd_jobs().front());
  }
  EXPECT_EQ(bytes_of_file(file.path()), "before");
  NativeWriter nowhere{"/no/such/folder/a.otr", {}};
  EXPECT_FALSE(nowhere.finish());
  EXPECT_NE(nowhere.error(), "");
}

TEST(NativeTrace, ARealLogIsTheSameAfterConversion) {
  const auto path = real_trace("swf/KTH-SP2-1996-2_28481.swf.gz");
  ORRERY_NEED_TRACE(path);
  const TemporaryFile file{""};
  const auto source = open_trace({.file = path.string()});
  NativeWriter writer{file.path(), source->facts()};
  while (const TraceJob* job = source->next()) writer.add(*job);
  ASSERT_TRUE(writer.finish()) << writer.error();
  const ReadTrace before = read_file(path);
  const ReadTrace after = read_file(file.path());
  ASSERT_EQ(after.error, "");
  ASSERT_EQ(after.jobs.size(), before.jobs.size());
  for (size_t i = 0; i < after.jobs.size(); ++i) {
    ASSERT_EQ(after.jobs[i].submit, before.jobs[i].submit);
    ASSERT_EQ(after.jobs[i].duration, before.jobs[i].duration);
    ASSERT_EQ(after.jobs[i].pods, before.jobs[i].pods);
    ASSERT_EQ(after.jobs[i].requested_time, before.jobs[i].requested_time);
  }
}

TEST(Sha256, GivesThePublishedDigests) {
  const auto hex = [](std::string_view text) {
    traces::Sha256 digest;
    digest.add(text);
    return digest.hex();
  };
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

const std::string kJobs =
    "# slice\njob_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,duration_s,"
    "walltime_limit_s,final_status\n"
    "1,u,vcX,c,0,8,V100,1,10,10,COMPLETED\n2,u,vcX,c,1000000,1,V100,1,20,20,FAILED\n"
    "3,v,vcX,c,3000000,16,V100,2,30,30,COMPLETED\n4,v,vcY,c,4000000,2,V100,1,40,40,CANCELED\n";
using Strings = std::vector<std::string>;

TEST(TraceFilters, SizesAndStatusesAreFilteredAndCounted) {
  EXPECT_EQ(read_text(kJobs, {.gpus_min = 2}).names, (Strings{"1", "3", "4"}));
  EXPECT_EQ(read_text(kJobs, {.gpus_min = 2, .gpus_max = 8}).names, (Strings{"1", "4"}));
  EXPECT_EQ(read_text(kJobs, {.gpus_max = 8}).counts.other_size, 1);
  const ReadTrace trace =
      read_text(kJobs, {.statuses = {TraceStatus::Failed, TraceStatus::Cancelled}});
  EXPECT_EQ(trace.names, (Strings{"2", "4"}));
  EXPECT_EQ(trace.counts.other_status, 2);
  EXPECT_EQ(read_text(kJobs, {.gpus_min = 3, .gpus_max = 2}).error,
            "gpus_max: expected at least gpus_min");
}

TEST(TraceFilters, CopiesArriveTogether) {
  const ReadTrace trace = read_text(kJobs, {.jobs_max = 5, .copies = 3});
  EXPECT_EQ(trace.names, (Strings{"1", "1", "1", "2", "2"})) << trace.error;
  EXPECT_EQ(trace.jobs[2].submit, Time{});
  EXPECT_EQ(read_text(kJobs, {.copies = 10}).jobs.size(), 40U);
  EXPECT_EQ(read_text(kJobs, {.copies = 0}).error, "copies: expected 1 or more");
}

TEST(TraceStatistics, FiguresAreThoseOfTheJobs) {
  const auto reader = open_trace_text({.file = "jobs.csv"}, kJobs);
  TraceStatistics statistics;
  while (const TraceJob* job = reader->next()) statistics.add(*job);
  EXPECT_EQ(statistics.jobs(), 4);
  EXPECT_EQ(statistics.users(), 2U);
  EXPECT_EQ(statistics.queues(), 2U);
  EXPECT_DOUBLE_EQ(statistics.gpu_seconds(), 8 * 10 + 1 * 20 + 16 * 30 + 2 * 40);
  EXPECT_DOUBLE_EQ(statistics.durations().mean, 25);
  EXPECT_EQ(statistics.durations().at, (std::array<double, 7>{10, 10, 20, 30, 40, 40, 40}));
  EXPECT_EQ(statistics.gaps().count, 3);
  EXPECT_EQ(statistics.arrivals(4), (std::vector<int64_t>{1, 1, 0, 2}));
  EXPECT_EQ(statistics.arrivals_by_hour()[0], 4);
  EXPECT_EQ(statistics.statuses()[static_cast<size_t>(TraceStatus::Completed)].jobs, 2);
  EXPECT_EQ(statistics.last_end(), Time{} + 44_s);
}

}  // namespace
}  // namespace orrery

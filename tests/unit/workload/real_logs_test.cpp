// Published logs of processors without GPUs, where they are at hand: jobs, sizes and core-seconds
// as recomputed by other means, and what is left out of each.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::real_trace;

struct Log {
  std::string file;
  int64_t jobs = 0;
  int64_t processors = 0;
  double core_seconds = 0;
  size_t users = 0;  // with a name
  double requested_seconds = 0;
  std::map<std::string, int64_t> notes;
};

void PrintTo(const Log& log, std::ostream* out) { *out << log.file; }

class SwfLogs : public ::testing::TestWithParam<Log> {};

TEST_P(SwfLogs, HaveTheirJobsAndCoreSeconds) {
  const Log& log = GetParam();
  const auto path = real_trace("swf/" + log.file);
  ORRERY_NEED_TRACE(path);
  TraceParams params;
  params.file = path.string();
  const auto reader = open_trace(params);
  int64_t jobs = 0;
  int64_t processors = 0;
  double core_seconds = 0;
  double requested_seconds = 0;
  std::set<std::string_view> users;
  while (const TraceJob* job = reader->next()) {
    ++jobs;
    processors += job->pods;
    core_seconds += job->pods * job->duration.seconds();
    if (job->requested_time.ns > 0) requested_seconds += job->requested_time.seconds();
    if (!job->user.empty()) users.insert(job->user);
  }
  ASSERT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(reader->format(), TraceFormat::Swf);
  EXPECT_EQ(jobs, log.jobs);
  EXPECT_EQ(processors, log.processors);
  EXPECT_NEAR(core_seconds, log.core_seconds, 1e-9 * log.core_seconds);
  EXPECT_NEAR(requested_seconds, log.requested_seconds, 1e-9 * log.requested_seconds);
  EXPECT_EQ(users.size(), log.users);
  std::map<std::string, int64_t> notes;
  for (const TraceNote& note : reader->notes()) notes[note.what] = note.rows;
  EXPECT_EQ(notes, log.notes);
}

const std::string kDiffer = "requested and allocated processors differ";
const std::string kOverran = "ran longer than requested";
INSTANTIATE_TEST_SUITE_P(
    RealTraces, SwfLogs,
    ::testing::Values(
        Log{"KTH-SP2-1996-2_28481.swf.gz",
            28'481,
            218'206,
            2'013'209'080,
            214,
            389'572'200,
            {{kDiffer, 219}}},
        Log{"KTH-SP2_predictsim_log.swf.gz",
            28'489,
            218'234,
            2'019'298'503,
            214,
            389'662'800,
            {{kDiffer, 219}, {kOverran, 475}}},
        Log{"CEA-Curie_predictsim_sample.swf.gz",
            29'998,
            11'892'884,
            116'254'918'007,
            238,
            1'293'526'800,
            {{kDiffer, 3751}}},
        Log{"alea_hpc2n_excerpt.swf.gz",
            3145,
            62'449,
            502'634'281,
            17,
            75'541'680,
            {{"left out: the run time is unknown", 25}, {kDiffer, 213}, {kOverran, 320}}},
        Log{"cqgym_train.swf.gz",
            3000,
            1'049'906,
            7'349'855'063,
            97,
            38'468'880,
            {{kOverran, 620}}},
        Log{"lublin_256.swf.gz", 10'000, 221'010, 2'092'781'168, 0, 0, {}}),
    [](const auto& named) {
      std::string name = named.param.file.substr(0, named.param.file.find('.'));
      std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
      return name;
    });

}  // namespace
}  // namespace orrery

// No row of a trace is lost without a word: each is delivered, joined to another, skipped, left
// out or filtered.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "models/workload/traces/detect.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;

void expect_all_rows_counted(const ReadTrace& trace, int32_t copies = 1) {
  const TraceCounts& c = trace.counts;
  EXPECT_EQ(c.rows, c.joined + c.skipped + c.left_out + c.filtered() + c.delivered / copies);
}

// The seeds of the fuzzer are small traces of every format, after bytes that pick options.
struct Fixture {
  std::string name, text;
  TraceFormat format = TraceFormat::Auto;
};
void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.name; }

void add_fixtures(std::string_view folder, size_t options, std::vector<Fixture>& all) {
  const auto path = std::filesystem::path{ORRERY_SOURCE_DIR "/tests/fuzz/corpus"} / folder;
  for (const auto& entry : std::filesystem::directory_iterator{path}) {
    std::ifstream file{entry.path(), std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    const size_t format = options == 3 ? static_cast<uint8_t>(text.at(0)) : 0;
    if (format >= enum_names(TraceFormat{}).size()) continue;  // of requests
    const std::string name = std::string{folder} + "_" + entry.path().filename().string();
    // Nodes are no jobs; instances of PAI need a table beside, which their own test has.
    if (name == "openb_nodes" || name == "traces_pai_instances") continue;
    all.push_back({name, text.substr(options), static_cast<TraceFormat>(format)});
  }
}

std::vector<Fixture> fixtures() {
  std::vector<Fixture> all;
  add_fixtures("traces", 3, all);
  add_fixtures("openb", 1, all);
  add_fixtures("helios", 1, all);
  std::ranges::sort(all, {}, &Fixture::name);
  return all;
}

class EveryFixture : public ::testing::TestWithParam<Fixture> {};

TEST_P(EveryFixture, HasItsRowsCountedOnce) {
  const Fixture& fixture = GetParam();
  const traces::Format& format = *traces::find_format(fixture.text, fixture.format);
  TraceParams params{.format = fixture.format, .lenient = true};
  params.sort = TraceSort::All;
  if (format.lists_survivors) params.warm_start = false;
  if (format.durations == traces::Durations::InNoRow) params.default_duration = 60_s;
  if (format.has_steps) params.default_duration = 60_s;
  const ReadTrace all = read_text(fixture.text, params);
  ASSERT_EQ(all.error, "");
  EXPECT_GT(all.counts.rows, 0);
  expect_all_rows_counted(all);

  params.copies = 3;
  expect_all_rows_counted(read_text(fixture.text, params), 3);
  if (format.has_gpus) params.gpus_min = 2;
  if (format.has_statuses) params.statuses = {TraceStatus::Completed, TraceStatus::Unknown};
  params.window_end = format.has_dates ? "2020-01-01" : "5";
  const ReadTrace filtered = read_text(fixture.text, params);
  ASSERT_EQ(filtered.error, "");
  EXPECT_EQ(filtered.counts.rows, all.counts.rows);
  expect_all_rows_counted(filtered, 3);
}

INSTANTIATE_TEST_SUITE_P(Traces, EveryFixture, ::testing::ValuesIn(fixtures()),
                         [](const auto& named) { return named.param.name; });

TEST(RowAccounting, EveryFormatHasAFixture) {
  std::set<TraceFormat> seen{TraceFormat::Auto, TraceFormat::PaiInstances};
  for (const Fixture& fixture : fixtures()) {
    const traces::Format* const format = traces::find_format(fixture.text, fixture.format);
    if (format != nullptr) seen.insert(format->id);
  }
  EXPECT_EQ(seen.size(), enum_names(TraceFormat{}).size());
}

std::string event(int64_t us, int job, int type) {
  return std::to_string(us) + ",," + std::to_string(job) + "," + std::to_string(type) +
         ",u,0,n,l\n";
}

TEST(RowAccounting, EventsOfGoogleAreJoinedToTheFirstOfTheirJob) {
  constexpr int64_t kAfter = std::numeric_limits<int64_t>::max();
  const ReadTrace trace = read_text(
      event(10, 1, 0) + event(20, 1, 1) + event(25, 1, 8) + event(30, 1, 4) +  // a whole life
          event(10, 2, 0) + event(11, 2, 0) + event(20, 2, 1) +
          event(21, 2, 1) +                                      // each twice, running
          event(10, 3, 0) + event(15, 3, 7) + event(30, 3, 5) +  // killed in the queue
          event(40, 4, 4) + event(kAfter, 5, 0) + event(kAfter, 2, 4),
      {.format = TraceFormat::GoogleJobs});
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.counts.rows, 14);
  EXPECT_EQ(trace.counts.delivered, 1);
  EXPECT_EQ(trace.counts.joined, 6);    // 2 of job 1, 3 of job 2, 1 of job 3
  EXPECT_EQ(trace.counts.left_out, 7);  // 2 updates, jobs 2 and 3, an end alone, 2 after the log
  expect_all_rows_counted(trace);
}

TEST(RowAccounting, AnEventOutOfOrderIsSkippedAndItsJobGoesOn) {
  const ReadTrace trace = read_text(
      event(10, 1, 0) + event(5, 1, 1) + event(20, 1, 1) + event(15, 1, 4) + event(30, 1, 4),
      {.format = TraceFormat::GoogleJobs, .lenient = true});
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.counts.skipped, 2);
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(trace.jobs[0].duration, Duration{10'000});
  expect_all_rows_counted(trace);
}

}  // namespace
}  // namespace orrery

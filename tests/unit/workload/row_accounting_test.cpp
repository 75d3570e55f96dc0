// Each row of a trace is counted exactly once: as delivered, joined to another row, skipped, left
// out or filtered.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "models/workload/traces/formats/detect.hpp"
#include "tests/fuzz/trace_options.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;

void expect_all_rows_counted(const ReadTrace& trace, int32_t copies = 1) {
  const TraceCounts& c = trace.counts;
  EXPECT_EQ(c.rows, c.joined + c.skipped + c.left_out + c.filtered() + c.delivered / copies);
}

// A small trace of some format: a seed of the fuzzer without the bytes that select options.
struct Fixture {
  std::string name, text;
  TraceFormat format = TraceFormat::Auto;
};
void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.name; }

struct Seed {
  std::string name, bytes;
};

std::vector<Seed> seeds_in(std::string_view folder) {
  std::vector<Seed> all;
  const auto path = std::filesystem::path{ORRERY_SOURCE_DIR "/tests/fuzz/corpus"} / folder;
  for (const auto& entry : std::filesystem::directory_iterator{path}) {
    std::ifstream file{entry.path(), std::ios::binary};
    all.push_back({.name = std::string{folder} + "_" + entry.path().filename().string(),
                   .bytes = {std::istreambuf_iterator<char>{file}, {}}});
  }
  std::ranges::sort(all, {}, &Seed::name);
  return all;
}

void add_fixtures(std::string_view folder, size_t options, std::vector<Fixture>& all) {
  for (const Seed& seed : seeds_in(folder)) {
    if (seed.name == "openb_nodes") continue;  // a list of nodes instead of jobs
    Fixture fixture{.name = seed.name, .text = seed.bytes.substr(options)};
    if (options == fuzz::TraceInput::kHead) {
      const fuzz::TraceInput input{seed.bytes};
      if (input.is_requests()) continue;
      fixture.format = input.job_format();
    }
    all.push_back(std::move(fixture));
  }
}

std::vector<Fixture> fixtures() {
  std::vector<Fixture> all;
  add_fixtures("traces", fuzz::TraceInput::kHead, all);
  add_fixtures("openb", 1, all);
  add_fixtures("helios", 1, all);
  return all;
}

class EveryFixture : public ::testing::TestWithParam<Fixture> {};

std::string all_errors(RequestReader& reader) {
  while (reader.next() != nullptr) {
  }
  return reader.error().value_or("");
}

TEST_P(EveryFixture, HasItsRowsCountedOnce) {
  fuzz::TraceFolder folder;
  std::string text = GetParam().text;
  const traces::Format* const found = traces::find_format(text, GetParam().format);
  ASSERT_NE(found, nullptr);
  const traces::Format& format = *found;
  folder.set_tables(found, text);
  const auto read = [&](const TraceParams& params) {
    return test::read_all(*open_trace_text(params, text));
  };
  TraceParams params{.file = folder.file("jobs.csv"), .format = format.id, .lenient = true};
  params.sort = TraceSort::All;
  if (format.lists_survivors) params.warm_start = false;
  if (format.durations == traces::Durations::InNoRow) params.default_duration = 60_s;
  if (format.has_steps) params.default_duration = 60_s;
  const ReadTrace all = read(params);
  ASSERT_EQ(all.error, "");
  EXPECT_GT(all.counts.rows, 0);
  expect_all_rows_counted(all);

  params.copies = 3;
  expect_all_rows_counted(read(params), 3);
  if (format.has_gpus) params.gpus_min = 2;
  if (format.has_statuses) params.statuses = {TraceStatus::Completed, TraceStatus::Unknown};
  const bool has_dates = format.has_dates || GetParam().name.ends_with("_dates");
  params.window_end = has_dates ? "2020-01-01" : "5";
  const ReadTrace filtered = read(params);
  ASSERT_EQ(filtered.error, "");
  EXPECT_EQ(filtered.counts.rows, all.counts.rows);
  expect_all_rows_counted(filtered, 3);
}

INSTANTIATE_TEST_SUITE_P(Traces, EveryFixture, ::testing::ValuesIn(fixtures()),
                         [](const auto& named) { return named.param.name; });

TEST(RowAccounting, RequestsAreCountedOnce) {
  std::set<RequestFormat> seen;
  for (const Seed& seed : seeds_in("traces")) {
    const fuzz::TraceInput input{seed.bytes};
    if (!input.is_requests()) continue;
    const auto reader = open_requests_text(
        {.file = "r", .format = input.request_format(), .copies = 3, .lenient = true}, input.text);
    int64_t handed_out = 0;
    while (reader->next() != nullptr) ++handed_out;
    EXPECT_EQ(reader->error().value_or(""), "") << seed.name;
    const RequestCounts counts = reader->counts();
    EXPECT_GT(counts.rows, 0) << seed.name;
    EXPECT_EQ(handed_out, counts.delivered) << seed.name;
    seen.insert(input.request_format());
    // A row of rates yields many requests.
    if (reader->format() == RequestFormat::GenAiRates) continue;
    EXPECT_EQ(counts.rows,
              counts.skipped + counts.left_out + counts.filtered() + counts.delivered / 3)
        << seed.name;
  }
  EXPECT_EQ(seen.size(), enum_names(RequestFormat{}).size());
}

// Reads each seed like the fuzzer does. In each format at least one seed must deliver a row.
TEST(TraceSeeds, EveryFormatHasOneThatDeliversARow) {
  std::set<size_t> delivering;
  fuzz::TraceFolder folder;
  for (const Seed& seed : seeds_in("traces")) {
    const fuzz::ReadyTrace trace{seed.bytes, folder};
    const std::string& text = trace.input.text;
    const bool delivers = trace.input.is_requests()
                              ? open_requests_text(trace.requests, text)->next() != nullptr
                              : open_trace_text(trace.jobs, text)->next() != nullptr;
    if (delivers) delivering.insert(trace.input.format);
  }
  for (size_t i = 0; i < fuzz::TraceInput::kFormats; ++i) {
    const bool is_jobs = i < fuzz::TraceInput::kJobFormats;
    EXPECT_TRUE(delivering.contains(i))
        << (is_jobs ? "jobs " : "requests ")
        << (is_jobs ? name_of(static_cast<TraceFormat>(i))
                    : name_of(static_cast<RequestFormat>(i - fuzz::TraceInput::kJobFormats)));
  }
}

TEST(TraceSeeds, TablesBesideATraceAreReadWithIt) {
  std::set<std::string> files;
  fuzz::TraceFolder folder;
  for (const Seed& seed : seeds_in("traces")) {
    const fuzz::ReadyTrace trace{seed.bytes, folder};
    if (trace.input.is_requests()) continue;
    const auto reader = open_trace_text(trace.jobs, trace.input.text);
    if (reader->next() == nullptr) continue;
    for (const std::string& file : reader->side_files()) {
      files.insert(std::filesystem::path{file}.filename().string());
    }
  }
  std::set<std::string> known;
  for (const auto& [letter, name] : fuzz::kTableNames) known.emplace(name);
  EXPECT_EQ(files, known);
}

TEST(TraceSeeds, AFittedFrameIsTakenByTheReader) {
  for (const Seed& seed : seeds_in("traces")) {
    if (seed.name != "traces_native" && seed.name != "traces_native_requests") continue;
    const std::string good = seed.bytes.substr(fuzz::TraceInput::kHead);
    std::string same = good;
    fuzz::fit_native_frame(same);
    EXPECT_EQ(same, good) << seed.name;
    for (std::string other :
         {good.substr(0, good.size() - 17) + good.substr(good.size() - 16),
          good.substr(0, good.size() - 16) + "x" + good.substr(good.size() - 16)}) {
      fuzz::fit_native_frame(other);
      const auto error = seed.name == "traces_native"
                             ? test::read_all(*open_trace_text({.file = "n"}, other)).error
                             : all_errors(*open_requests_text({.file = "n"}, other));
      EXPECT_TRUE(error.ends_with("is not as it was written")) << error;
    }
  }
}

TEST(RowAccounting, EveryFormatHasAFixture) {
  std::set<TraceFormat> seen{TraceFormat::Auto};
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
      // Job 1: submitted, started, updated, finished.
      event(10, 1, 0) + event(20, 1, 1) + event(25, 1, 8) + event(30, 1, 4) + event(10, 2, 0) +
          event(11, 2, 0) + event(20, 2, 1) +
          event(21, 2, 1) +  // job 2: submitted twice, started twice, still running
          // Job 3: submitted, updated and killed in the queue.
          event(10, 3, 0) + event(15, 3, 7) + event(30, 3, 5) + event(40, 4, 4) +
          event(kAfter, 5, 0) + event(kAfter, 2, 4),
      {.format = TraceFormat::GoogleJobs});
  EXPECT_EQ(trace.error, "");
  EXPECT_EQ(trace.counts.rows, 14);
  EXPECT_EQ(trace.counts.delivered, 1);
  EXPECT_EQ(trace.counts.joined, 6);  // 2 events of job 1, 3 of job 2, 1 of job 3
  // 2 updates, the first rows of jobs 2 and 3, the end of job 4, and 2 events after the log.
  EXPECT_EQ(trace.counts.left_out, 7);
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

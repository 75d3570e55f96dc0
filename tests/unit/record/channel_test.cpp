#include "sim/record/channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sim/core/check.hpp"
#include "sim/record/recorder.hpp"

namespace orrery::channel_test {
namespace {

enum class Outcome : uint8_t { Done, Failed };
constexpr std::array<std::string_view, 2> enum_names(Outcome) { return {"done", "failed"}; }

struct Row {
  JobId job;
  Time at;
  double power = 0;
  Outcome outcome = Outcome::Done;
  FixedText<4> team;
  static void columns(auto&& c) {
    c("job", &Row::job, "identity");
    c("at", &Row::at, "when");
    c("power", &Row::power, "mean power", "W");
    c("outcome", &Row::outcome, "how it ended");
    c("team", &Row::team, "who pays");
  }
};

TEST(Channel, ColumnsComeFromTheRowStruct) {
  const auto columns = columns_of<Row>();
  ASSERT_EQ(columns.size(), 5U);
  EXPECT_EQ(columns[0].unit, "id");
  EXPECT_EQ(columns[0].kind, ColumnKind::Id);
  EXPECT_EQ(columns[1].unit, "ns");
  EXPECT_EQ(columns[1].offset, offsetof(Row, at));
  EXPECT_EQ(columns[2].unit, "W");
  EXPECT_EQ(columns[3].kind, ColumnKind::Enum);
  ASSERT_EQ(columns[3].enum_names.size(), 2U);
  EXPECT_EQ(columns[3].enum_names[1], "failed");
  EXPECT_EQ(columns[4].bytes, 4U);
}

TEST(Channel, RowsComeBackAsStructsEvenWhileBuffered) {
  MemoryRecorder recorder;
  Channel<Row> channel{recorder, "/jobs", "one row per job"};
  for (uint32_t i = 0; i < 10'000; ++i) {
    channel.emit({.job = {i}, .at = {i}, .power = 1.5, .outcome = Outcome::Failed, .team = "vis"});
  }
  const auto rows = recorder.rows<Row>("/jobs");
  ASSERT_EQ(rows.size(), 10'000U);
  EXPECT_EQ(rows[9'999].job.index, 9'999U);
  EXPECT_EQ(rows[9'999].team.view(), "vis");
  EXPECT_EQ(rows[9'999].outcome, Outcome::Failed);
}

TEST(Channel, ADestroyedChannelHasDeliveredItsRows) {
  MemoryRecorder recorder;
  {
    Channel<Row> channel{recorder, "/jobs", "one row per job"};
    channel.emit({});
  }
  EXPECT_EQ(recorder.rows<Row>("/jobs").size(), 1U);
}

TEST(Channel, AChannelToNowhereIsOff) {
  NullRecorder recorder;
  Channel<Row> channel{recorder, "/jobs", "one row per job"};
  channel.emit({});
  EXPECT_FALSE(channel.is_on());
}

TEST(FixedText, IsCutAtACharacterBoundary) {
  EXPECT_EQ(FixedText<4>{"abcdef"}.view(), "abcd");
  EXPECT_EQ(FixedText<4>{"abcé"}.view(), "abc");  // é takes two bytes
  EXPECT_EQ(FixedText<5>{"abcé"}.view(), "abcé");
  EXPECT_EQ(FixedText<2>{"€"}.view(), "");
  EXPECT_EQ(FixedText<4>{""}.view(), "");
}

TEST(MemoryRecorder, KeepsTextsAttributesAndSummary) {
  MemoryRecorder recorder;
  recorder.write_text("/meta/scenario", "cluster: {}");
  recorder.set_attribute("seed", uint64_t{7});
  recorder.add_summary("jobs_done", int64_t{3}, "", "jobs that completed");
  recorder.add_summary("utilisation", 0.5, "", "GPU time allocated");
  recorder.start();
  recorder.finish({.complete = true, .digest = 9, .wall_seconds = 1, .simulated = {5}});
  EXPECT_EQ(recorder.text("/meta/scenario"), "cluster: {}");
  EXPECT_EQ(std::get<uint64_t>(recorder.attribute("seed")), 7U);
  EXPECT_TRUE(std::get<bool>(recorder.attribute("complete")));
  ASSERT_EQ(recorder.summary().size(), 2U);
  EXPECT_EQ(std::get<int64_t>(recorder.summary()[0].value), 3);
}

TEST(Recorder, OpeningAfterTheStartIsABug) {
  MemoryRecorder recorder;
  recorder.start();
  EXPECT_THAT(([&] {
                Channel<Row>{recorder, "/late", ""};
              }),
              ::testing::ThrowsMessage<CheckFailed>(::testing::HasSubstr("before the run starts")));
}

}  // namespace
}  // namespace orrery::channel_test

// Summaries of tables of measurements, and tables of request rates that are read as requests.
#include "models/workload/traces/tables/series.hpp"

#include <map>
#include <string>

#include "models/workload/traces/requests/request_reader.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery::series_test {
namespace {

using Strings = std::vector<std::string>;

SeriesReport read_text(std::string_view text, bool lenient = false) {
  return read_series_text({.file = "s.csv", .lenient = lenient}, text);
}

TEST(Series, AGenAiSeriesHasValuesNamesAndASpan) {
  const SeriesReport report = read_text(
      "value,container_ip,timestamp_anon\n10.0,a,57.0\n20.0,b,57.0\n,a,114.0\n60.0,a,171.0\n");
  EXPECT_EQ(report.errors, Strings{});
  EXPECT_EQ(report.format, SeriesFormat::GenAi);
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.first, 57);
  EXPECT_EQ(report.last, 171);
  ASSERT_EQ(report.names.size(), 1U);
  EXPECT_EQ(report.names[0].different, 2);
  ASSERT_EQ(report.values.size(), 2U);
  EXPECT_EQ(report.values[0].distribution.count, 3);
  EXPECT_EQ(report.values[0].distribution.mean, 30);
  EXPECT_EQ(report.values[0].distribution.at[2], 20);  // at[2] is the median
  EXPECT_EQ(report.values[1].column, "between rows, s");
  EXPECT_EQ(report.values[1].distribution.at[6], 57);
}

TEST(Series, TablesOfPaiAreDistinguishedByTheirFields) {
  const std::pair<const char*, SeriesFormat> kTables[] = {
      {"job1,worker,w1,i1,m1,T4,120.5,20,1.5,2.5,0.5,0.75,1,1,1,1\n", SeriesFormat::PaiSensors},
      {"w1,m1,1000,2000,0.5,1,2,55.5,3,4,2,40\n", SeriesFormat::PaiMachineMetrics},
      {"m1,T4,96,512,2\n", SeriesFormat::PaiMachines},
      {"job1,i1,alice,Terminated,1000.0,2010.0\n", SeriesFormat::PaiJobs},
      {"0123456789abcdef,0123456789abcdef,T4,0123456789abcdef,bert\n", SeriesFormat::PaiGroups},
      {"a,b,c\n", SeriesFormat::Auto}};
  for (const auto& [text, format] : kTables) EXPECT_EQ(read_text(text).format, format) << text;
}

TEST(Series, MistakesAreReportedByRowAndColumn) {
  const std::string text = "w1,m1,1000,2000,0,0,0,0,0,0,0,0\nw2,m1,1000,900,0,0,0,0,0,0,0,0\n";
  EXPECT_EQ(read_text(text).errors,
            Strings{"s.csv:2:4 (end_time): found '900', expected a time not before start_time"});
  const SeriesReport lenient = read_text(text, true);
  EXPECT_EQ(lenient.errors, Strings{});
  EXPECT_EQ(lenient.skipped, 1);
  EXPECT_EQ(lenient.rows, 2);
}

TEST(Series, ManyDifferentValuesAreRoundedToAFifthOfAPercent) {
  std::string text = "timestamp_anon,value\n";
  for (int i = 1; i <= 150'000; ++i) text += std::to_string(i) + "," + std::to_string(i) + "\n";
  const SeriesReport report = read_text(text);
  EXPECT_TRUE(report.is_rounded);
  EXPECT_NEAR(report.values[0].distribution.at[2], 75'000, 150);
  EXPECT_EQ(report.values[0].distribution.mean, 75'000.5);
}

TEST(GenAiRates, AreRequestsAtEvenDistancesOfEachContainer) {
  // Container `a` gets 0.1 requests per second in two intervals of 57 s: 5.7 requests per interval.
  // Container `b` gets 0.05 requests per second in one interval: 2.85 requests.
  const std::string text =
      "timestamp_anon,value,container_ip,request_type\n57.0,0.1,a,Generative Requests\n"
      "57.0,0.15,,API Requests\n57.0,0.05,b,Generative Requests\n"
      "114.0,0.1,a,Generative Requests\n";
  const auto reader = open_requests_text({.file = "r.csv"}, text);
  std::map<std::string_view, int> of;
  Time last;
  while (const RequestRow* row = reader->next()) {
    EXPECT_GE(row->arrival, last);
    last = row->arrival;
    ++of[row->group];
  }
  EXPECT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(reader->format(), RequestFormat::GenAiRates);
  EXPECT_EQ(of["a"], 11);  // 5 of 5.7, then 6 of 5.7 + 0.7
  EXPECT_EQ(of["b"], 2);
  ASSERT_EQ(reader->notes().size(), 1U);
  EXPECT_EQ(reader->notes()[0].what,
            "left out: requests at the service's entrance: the rows of its containers count them "
            "too");
}

const std::string kBetweenSteps =
    "timestamp_anon,value,container_ip,request_type\n1000,1,a,Generative Requests\n"
    "1010,1,b,Generative Requests\n1057,1,a,Generative Requests\n";

TEST(GenAiRates, ARowBetweenTheStepsIsTheOneThatIsReportedAndNothingFollowsIt) {
  const auto reader = open_requests_text({.file = "r.csv"}, kBetweenSteps);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->error().value_or(""),
            "r.csv:3:1 (timestamp_anon): found '1010', expected a time that is a multiple of 57 s "
            "after the first");
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->counts().delivered, 0);
}

TEST(GenAiRates, OnlyTheRequestsOfARowBetweenTheStepsAreSkipped) {
  const auto reader = open_requests_text({.file = "r.csv", .lenient = true}, kBetweenSteps);
  int64_t requests = 0;
  while (reader->next() != nullptr) ++requests;
  EXPECT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(requests, 114);
  EXPECT_EQ(reader->counts().skipped, 1);
  ASSERT_EQ(reader->skipped_examples().size(), 1U);
  EXPECT_TRUE(reader->skipped_examples()[0].starts_with("r.csv:3:1"));
}

TEST(GenAiRates, AnErrorEndsThemEvenInTheMiddleOfAStep) {
  const auto reader = open_requests_text(
      {.file = "r.csv"}, "timestamp_anon,value,container_ip,request_type\n57,1,a,x\n114,x,a,x\n");
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_NE(reader->error().value_or(""), "");
}

TEST(RealSeries, OfGenAiHaveTheirRows) {
  const std::pair<const char*, int64_t> kRows[] = {{"basemodel_update_latency_anon", 7531},
                                                   {"controlnet_latency_data_anon", 29'221},
                                                   {"lora_update_latency_anon", 27'415},
                                                   {"model_predict_data_anon", 6254},
                                                   {"pipeline_update_latency_anon", 36'046},
                                                   {"qps", 24'627},
                                                   {"queue_rt_raw_anon", 23'478},
                                                   {"queue_size_raw_anon", 1434}};
  for (const auto& [name, rows] : kRows) {
    const auto path = test::real_trace(std::string{"alibaba-genai-v2026/"} + name + ".tar.gz");
    ORRERY_NEED_TRACE(path);
    const SeriesReport report = read_series({.file = path.string()});
    EXPECT_EQ(report.errors, Strings{}) << name;
    EXPECT_EQ(report.rows, rows) << name;
    EXPECT_EQ(report.notes.size(), 0U) << name;
  }
}

TEST(RealSeries, RatesOfGenAiAddUpToTheirRequests) {
  const auto path = test::real_trace("alibaba-genai-v2026/qps.tar.gz");
  ORRERY_NEED_TRACE(path);
  const auto reader = open_requests({.file = path.string()});
  int64_t requests = 0;
  while (reader->next() != nullptr) ++requests;
  EXPECT_EQ(reader->error().value_or(""), "");
  // For each of the 108 containers, a fraction of a request remains at the end and is dropped.
  EXPECT_NEAR(static_cast<double>(requests), 121'772, 108);
}

}  // namespace
}  // namespace orrery::series_test

// Failure logs: parsed rows of each format, and rejected input.
#include "models/faults/logs/failure_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kTitan =
    "SN,location,insert,remove,duration,out,event\n"
    "1,c10-0c0s0n0,2014-01-01 06:00:00,2014-01-03 00:00:00,151200,TRUE,DBE\n"
    "2,c2-0c0s0n0,2014-01-01 12:00:00,2019-08-01 20:07:33,1,FALSE,\n"
    "3,c2-0c0s0n1,,2014-01-02 00:00:30,,,OTB\n";
const std::string kFta =
    "# event_id component_id node_id platform_id node_name event_type start stop reason\n"
    "0 1 10 7 azur-10 1 1000000000.0 1000003600.0 NULL\n"
    "1 1 10 7 azur-10 0 1000003600.0 1000004200.5 NULL\n"
    "2 1 9 7 azur-9\t0 1000000100 1000000200 NULL\n\n";
const std::string kLanlHead =
    "System,machine type,nodes,procstot,procsinnode,nodenum,nodenumz,node install,node prod,"
    "node decom,fru type,mem,cputype,memtype,num intercon,purpose,Prob Started (mm/dd/yy hh:mm),"
    "Prob Fixed (mm/dd/yy hh:mm),Down Time,Facilities,Hardware,Human Error,Network,Undetermined,"
    "Software,Same Event\n";
const std::string kLanl =
    "A title above the header,,,\n" + kLanlHead +
    "2,cluster,3,12,4,0,0,5-Apr,5-Jun,current,part,8,1,1,0,compute,6/21/2005 10:54,"
    "6/21/2005 11:00,6,,Memory,,,,,No\n"
    "20,cluster,4,16,4,3,3,5-Apr,5-Jun,current,part,80,1,1,0,compute,6/22/05 1:05,"
    "6/22/05 2:05,50,,,,,,OS,No\n"
    "20,cluster,4,16,4,1,1,5-Apr,5-Jun,current,part,80,1,1,0,compute,6/20/2005 1:05,,,,,,,,,No\n";

FailureLog read(std::string_view text, FailureLogParams params = {}) {
  params.file = "log";
  return read_failure_log_text(params, text);
}

TEST(FailureLog, TitanTellsWhenAGpuWasLostButNotForHowLong) {
  const FailureLog log = read(kTitan);
  ASSERT_EQ(log.error, "");
  EXPECT_EQ(log.format, FailureLogFormat::Titan);
  EXPECT_THAT(log.nodes, ElementsAre("c2-0c0s0n0", "c2-0c0s0n1", "c10-0c0s0n0"));
  ASSERT_EQ(log.outages.size(), 2U);
  EXPECT_EQ(log.outages[0].start, Time{} + 1_d + 30_s) << "the run starts at the first midnight";
  EXPECT_EQ(log.outages[0].node, 1U);
  EXPECT_EQ(log.causes[log.outages[0].cause], "OTB");
  EXPECT_EQ(log.outages[0].length, Outage::kUnknown);
  EXPECT_EQ(log.outages[1].start, Time{} + 2_d);
  EXPECT_EQ(log.causes[log.outages[1].cause], "DBE");
}

TEST(FailureLog, FtaTellsWhenNodesWereUnavailable) {
  for (const std::string& text : {kFta, test::gzipped(kFta), test::xzipped(kFta)}) {
    const FailureLog log = read(text);
    ASSERT_EQ(log.error, "");
    EXPECT_EQ(log.format, FailureLogFormat::Fta);
    EXPECT_THAT(log.nodes, ElementsAre("7-9", "7-10"));
    ASSERT_EQ(log.outages.size(), 2U);
    const Duration midnight = 1_s * (1'000'000'000 % 86400);
    EXPECT_EQ(log.outages[0].start, Time{} + midnight + 100_s);
    EXPECT_EQ(log.outages[0].length, 100_s);
    EXPECT_EQ(log.outages[1].node, 1U);
    EXPECT_EQ(log.outages[1].length, 600500_ms);
  }
}

TEST(FailureLog, LanlHasNodesThatNeverFailedAndItsDownTimeHolds) {
  const FailureLog log = read(kLanl);
  ASSERT_EQ(log.error, "");
  EXPECT_EQ(log.format, FailureLogFormat::Lanl);
  EXPECT_THAT(log.nodes, ElementsAre("2-0", "2-1", "2-2", "20-0", "20-1", "20-2", "20-3"));
  ASSERT_EQ(log.outages.size(), 3U);
  EXPECT_EQ(log.nodes[log.outages[0].node], "20-1");
  EXPECT_EQ(log.outages[0].start, Time{} + 65_min);
  EXPECT_EQ(log.outages[0].length, Outage::kUnknown);
  EXPECT_EQ(log.causes[log.outages[0].cause], "unknown");
  EXPECT_EQ(log.outages[1].length, 6_min);
  EXPECT_EQ(log.causes[log.outages[1].cause], "hardware");
  EXPECT_EQ(log.outages[2].length, 50_min);
  ASSERT_EQ(log.notes.size(), 1U);
  EXPECT_THAT(log.notes[0].what, HasSubstr("have a fix time that disagrees"));
  EXPECT_EQ(log.notes[0].rows, 1);
}

TEST(FailureLog, LanlRowsThatNameNoNodeAreLeftOutAndCounted) {
  const std::string nameless =
      "17,cluster,164,328,2,,,5-Apr,5-Jun,current,part,8,1,1,0,compute,6/21/2005 10:54,"
      "6/21/2005 11:00,6,,Memory,,,,,No\n";
  const FailureLog log = read(kLanl + nameless + nameless);
  ASSERT_EQ(log.error, "");
  EXPECT_EQ(log.outages.size(), 3U);
  EXPECT_THAT(log.nodes, testing::Not(testing::Contains(testing::StartsWith("17-"))));
  ASSERT_EQ(log.notes.size(), 2U);
  EXPECT_EQ(log.notes[0].what, "left out: the row names no node");
  EXPECT_EQ(log.notes[0].rows, 2);
  EXPECT_EQ(read(kLanl + nameless, {.system = "17"}).error,
            "system: no row of system '17' names a node");
}

TEST(FailureLog, OneSystemAndItsCausesCanBeChosen) {
  const FailureLog log = read(kLanl, {.system = "20", .causes = {"software"}});
  ASSERT_EQ(log.error, "");
  EXPECT_THAT(log.nodes, ElementsAre("20-0", "20-1", "20-2", "20-3"));
  EXPECT_EQ(log.outages.size(), 1U);
  EXPECT_EQ(log.other_causes, 1);
  EXPECT_EQ(read(kLanl, {.system = "7"}).error, "system: the log has no system '7', but 2 20");
  EXPECT_THAT(read(kLanl, {.causes = {"hardwere"}}).error, HasSubstr("did you mean 'hardware'"));
  EXPECT_THAT(read(kFta, {.system = "7"}).error, HasSubstr("only lanl"));
}

TEST(FailureLog, AWindowCutsWhatWasUnderWayAtItsStart) {
  const FailureLog log = read(kFta, {.window_start = "2001-09-09 02:47:00"});
  ASSERT_EQ(log.error, "");
  EXPECT_EQ(log.outside_window, 1);
  ASSERT_EQ(log.outages.size(), 1U);
  EXPECT_EQ(log.outages[0].start, Time{});
  EXPECT_EQ(log.outages[0].length, 580500_ms);
  const FailureLog before = read(kFta, {.window_end = "2001-09-09 02:46:39"});
  EXPECT_EQ(before.outside_window, 1);
  EXPECT_THAT(read(kFta, {.window_start = "2030-01-01"}).error,
              HasSubstr("has no failure to replay"));
  EXPECT_THAT(read(kFta, {.window_start = "x"}).error, HasSubstr("window_start: found 'x'"));
  EXPECT_THAT(read(kFta, {.window_start = "2001-09-09", .window_end = "2001-09-09"}).error,
              HasSubstr("after window_start"));
}

TEST(FailureLog, AMalformedRowIsNamedOrSkippedAndCounted) {
  const auto error = [](const std::string& text) { return read(text).error; };
  EXPECT_EQ(error(kTitan + "4,c1,2014-02-30 00:00:00,2014-03-01 00:00:00,1,TRUE,\n"),
            "log:5:3 (insert): found '2014-02-30 00:00:00', expected a date and time such as "
            "2020-04-01 12:00:00");
  EXPECT_THAT(error(kTitan + "4,c1,2014-03-02 00:00:00,2014-03-01 00:00:00,1,TRUE,\n"),
              HasSubstr("log:5:4 (remove)"));
  EXPECT_THAT(error(kTitan + "4,c1,,2014-03-01 00:00:00,1,TRUE,XID\n"), HasSubstr("5:7 (event)"));
  EXPECT_THAT(error(kFta + "3 1 9 7 n 2 5 6 NULL\n"), HasSubstr("log:6:6 (event_type): found '2'"));
  EXPECT_THAT(error(kFta + "3 1 9 7 n 0 6 5 NULL\n"), HasSubstr("log:6:8 (event_stop_time)"));
  EXPECT_THAT(error(kFta + "3 1 9 7\n"), HasSubstr("log:6: found 4 fields, expected 9"));
  EXPECT_THAT(error(kFta + "3 1 9 7 n 0 nan 5 NULL\n"), HasSubstr("log:6:7"));
  EXPECT_THAT(error(kLanlHead + "2,c,3,1,1,0,0,,,,,,,,,,13/1/2005 1:00,,,,,,,,,No\n"),
              HasSubstr("log:2:17 (Prob Started (mm/dd/yy hh:mm)): found '13/1/2005 1:00'"));
  EXPECT_THAT(error(kLanlHead + "2,c,3,1,1,0,-1,,,,,,,,,,1/1/2005 1:00,,,,,,,,,No\n"),
              HasSubstr("log:2:7 (nodenumz)"));
  EXPECT_THAT(error("a,b\n1,2\n"), HasSubstr("no known format of failure logs"));
  EXPECT_THAT(error(""), HasSubstr("found no rows"));
  const FailureLog lenient = read(kFta + "3 1 9 7\n", {.lenient = true});
  ASSERT_EQ(lenient.error, "");
  ASSERT_EQ(lenient.notes.size(), 1U);
  EXPECT_EQ(lenient.notes[0].rows, 1);
  EXPECT_THAT(lenient.skipped_examples, ElementsAre(HasSubstr("log:6: found 4 fields")));
}

TEST(FailureLog, TitansOwnLogHasItsSlotsAndErrors) {
  const auto path = test::real_trace("failures-titan-gpu/gc_full.csv.gz");
  ORRERY_NEED_TRACE(path);
  FailureLogParams params;
  params.file = path.string();
  EXPECT_EQ(detect_failure_log(params.file), FailureLogFormat::Titan);
  const FailureLog log = read_failure_log(params);
  ASSERT_EQ(log.error, "");
  EXPECT_EQ(log.rows, 37'343);
  EXPECT_EQ(log.nodes.size(), 18'687U);
  EXPECT_EQ(log.outages.size(), 4'826U + 1'541U);
  EXPECT_THAT(log.notes, IsEmpty());
  params.causes = {"DBE"};
  EXPECT_EQ(read_failure_log(params).outages.size(), 4'826U);
}

}  // namespace
}  // namespace orrery

// `orrery trace`: its reports and its conversions.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/cli_run.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLog =
    "; MaxProcs: 8\n1 0 5 10 4 -1 -1 4 20 -1 1 1 1 -1 1 -1 -1 -1\n"
    "2 60 5 10 8 -1 -1 8 20 -1 0 2 1 -1 1 -1 -1 -1\n";

TEST(TraceCommand, InfoTellsFormatFiguresAndProblems) {
  const test::TemporaryFile file{kLog + "3 70 5 -1 8 -1 -1 8 20 -1 0 2 1 -1 1 -1 -1 -1\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("format                swf"));
  EXPECT_THAT(said.out, HasSubstr("jobs                  2"));
  EXPECT_THAT(said.out, HasSubstr("users                 2"));
  EXPECT_THAT(said.out, HasSubstr("it says: MaxProcs     8"));
  EXPECT_THAT(said.out, HasSubstr("left out: the run time is unknown (first: row 4)"));
}

TEST(TraceCommand, InfoShowsMalformedRowsAndFailsUnlessTheyAreAllowed) {
  const test::TemporaryFile file{kLog + "3 70\n4 x\n"};
  const std::string path = file.path();
  const Said strict = run({"trace", "info", path.c_str()});
  EXPECT_EQ(strict.status, 2);
  EXPECT_THAT(strict.err, HasSubstr(":4: found 2 fields, expected at least 18 fields"));
  EXPECT_THAT(strict.err, HasSubstr(":5: found 2 fields, expected at least 18 fields"));
  const Said lenient = run({"trace", "info", path.c_str(), "--lenient"});
  EXPECT_EQ(lenient.status, 0) << lenient.err;
  EXPECT_THAT(lenient.out, HasSubstr("2 rows                malformed, skipped"));
}

TEST(TraceCommand, InfoKnowsRequestTracesToo) {
  const test::TemporaryFile file{
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("azure_llm (requests)"));
}

TEST(TraceCommand, StepsOfManyImagesAreCountedInFull) {
  const test::TemporaryFile file{
      "gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,"
      "negative_prompt_length,num_images_per_prompt,num_inference_steps,"
      "checkpoint_model_version_id,num_lora\n"
      "2024-01-01 00:00:00,TXT,SUCCEED,1,g,1,1,100000,100000,m,0\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("10,000,000,000"));
}

TEST(TraceCommand, ConvertDoesNotReplaceATableBesideTheTrace) {
  const test::TemporaryFolder folder;
  const std::string instances = (folder / "pai_instance_table.csv").string();
  const std::string tasks = (folder / "pai_task_table.csv").string();
  const std::string row = "job1,worker,1,Terminated,1010,2010,600,29.3,50,MISC\n";
  std::ofstream{instances} << "job1,worker,i1,w1,x,Terminated,1011,1500,m1\n";
  std::ofstream{tasks} << row;
  const Said said = run({"trace", "convert", instances.c_str(), tasks.c_str()});
  std::ostringstream kept;
  kept << std::ifstream{tasks}.rdbuf();
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.err, HasSubstr("would replace"));
  EXPECT_EQ(kept.str(), row);
}

TEST(TraceCommand, InfoNeedsNoDurationsWhereAFormatHasNone) {
  const test::TemporaryFile file{
      "name,time,application,num_replicas,batch_size\na,0,bert,1,8\nb,120,ncf,4,8\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("jobs                  2"));
  EXPECT_THAT(said.out, HasSubstr("applications          2"));
  EXPECT_THAT(said.out, HasSubstr("between arrivals, s"));
  EXPECT_THAT(said.out, HasSubstr("run time              not in the trace: set default_duration"));
  EXPECT_THAT(said.out, Not(HasSubstr("run time, s")));
  const Said set = run({"trace", "info", path.c_str(), "--set", "default_duration=60s"});
  EXPECT_THAT(set.out, HasSubstr("run time, s"));
}

TEST(TraceCommand, InfoSumsUpListsOfNodes) {
  const test::TemporaryFile openb{
      "sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,P100\nn2,96000,393216,0,\n"};
  const test::TemporaryFile spot{"gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,8,128,n1\n"};
  const std::string openb_path = openb.path();
  const std::string spot_path = spot.path();
  const Said of_openb = run({"trace", "info", openb_path.c_str()});
  EXPECT_EQ(of_openb.status, 0) << of_openb.err;
  EXPECT_THAT(of_openb.out, HasSubstr("openb_nodes"));
  EXPECT_THAT(of_openb.out, HasSubstr("sn                    2 different"));
  EXPECT_THAT(of_openb.out, HasSubstr("model                 1 different"));
  const Said of_spot = run({"trace", "info", spot_path.c_str()});
  EXPECT_EQ(of_spot.status, 0) << of_spot.err;
  EXPECT_THAT(of_spot.out, HasSubstr("spot_nodes"));
  EXPECT_THAT(of_spot.out, HasSubstr("gpu_capacity_num"));
}

TEST(TraceCommand, ConvertKeepsWhereTheJobsCameFrom) {
  const test::TemporaryFile file{kLog};
  const test::TemporaryFile target{"an older file"};
  const std::string path = file.path();
  const std::string converted = target.path() + ".otr";
  const Said said = run({"trace", "convert", path.c_str(), converted.c_str(), "--set", "copies=3"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("6 jobs"));
  const Said info = run({"trace", "info", converted.c_str()});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("format                native"));
  EXPECT_THAT(info.out, HasSubstr("jobs                  6"));
  EXPECT_THAT(info.out, HasSubstr("source_sha256"));
  // The file keeps all parameters: those that were set, such as copies, and the defaults of others,
  // such as overruns.
  EXPECT_THAT(info.out, HasSubstr("copies: 3"));
  EXPECT_THAT(info.out, HasSubstr("overruns: keep"));
  EXPECT_THAT(info.out, HasSubstr("it says: MaxProcs     8"));
  std::filesystem::remove(converted);
}

TEST(TraceCommand, RequestsAreFilteredConvertedAndToldAsJobsAre) {
  const test::TemporaryFile file{
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n"
      "2023-11-16 18:18:03.9799600,480,1\n2023-11-16 18:19:03.9799600,48,1\n"};
  const std::string path = file.path();
  const std::string converted = path + ".orq";
  const char* const window = "window_end=2023-11-16 18:19:00";
  const Said info = run({"trace", "info", path.c_str(), "--set", window});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("requests              2"));
  EXPECT_THAT(info.out, HasSubstr("1 rows                outside the window"));
  EXPECT_THAT(run({"trace", "info", path.c_str(), "--set", "queues=[a]"}).err,
              HasSubstr("unknown"));
  const Said said = run(
      {"trace", "convert", path.c_str(), converted.c_str(), "--set", window, "--set", "copies=3"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("6 requests"));
  const Said again = run({"trace", "info", converted.c_str()});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("native_requests (requests)"));
  EXPECT_THAT(again.out, HasSubstr("requests              6"));
  EXPECT_THAT(again.out, HasSubstr("source_sha256"));
  EXPECT_THAT(again.out, HasSubstr("copies: 3"));
  std::filesystem::remove(converted);
  const std::string spec = path + ".yaml";
  std::ofstream{spec} << "trace:\n  file: " << path << "\n";
  const Said made = run({"trace", "generate", spec.c_str(), converted.c_str()});
  EXPECT_EQ(made.status, 2);
  EXPECT_THAT(made.err, HasSubstr(spec + ":2:9: trace.file: holds requests (azure_llm)"));
  std::filesystem::remove(spec);
}

TEST(TraceCommand, ProvenanceHasTheFilesReadBesideTheTrace) {
  const test::TemporaryFile throughputs{R"json({"v100": {"('A3C', 2)": {"null": 2.5}}})json"};
  const test::TemporaryFile file{"A3C\tcommand\t--steps\t0\t1000\t20.0\t2\n"};
  const std::string path = file.path();
  const std::string converted = path + ".otr";
  const std::string set = "gavel.throughputs=" + throughputs.path();
  const Said said =
      run({"trace", "convert", path.c_str(), converted.c_str(), "--set", set.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  const Said info = run({"trace", "info", converted.c_str()});
  std::filesystem::remove(converted);
  EXPECT_THAT(info.out, HasSubstr("it says: beside "));
  EXPECT_THAT(info.out, HasSubstr(std::filesystem::path{throughputs.path()}.filename().string()));
  EXPECT_THAT(info.out, HasSubstr("beside_sha256"));
}

TEST(TraceCommand, InfoShowsAListOfSurvivorsAsRecordedAndHowAReplayBegins) {
  const test::TemporaryFile file{
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n"
      "p0,1,1,1,1000,,LS,Running,0,500,10\np1,1,1,1,1000,,LS,Running,100,600,110\n"
      "p2,1,1,1,1000,,LS,Running,550,900,560\n"};
  const std::string path = file.path();
  const Said info = run({"trace", "info", path.c_str()});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("jobs                  3"));
  EXPECT_THAT(info.out, HasSubstr("490"));  // 490 s is the run time of p0 and of p1
  EXPECT_THAT(info.out, HasSubstr("window_start          500 s, when the first job ended"));
  EXPECT_THAT(info.out, HasSubstr("warm_start            2 jobs are under way at that time"));
  const Said warm = run({"trace", "info", path.c_str(), "--set", "warm_start=true"});
  EXPECT_THAT(warm.out, HasSubstr("it says: window_start 500 s, the first end of a job"));
  EXPECT_THAT(warm.out, Not(HasSubstr("  490")));
}

TEST(TraceCommand, WrongUseIsReported) {
  const test::TemporaryFile file{kLog};
  const std::string path = file.path();
  EXPECT_EQ(run({"trace", "info"}).status, 2);
  EXPECT_THAT(run({"trace", "frob", path.c_str()}).err, HasSubstr("not 'frob'"));
  EXPECT_THAT(run({"trace", "convert", path.c_str()}).err, HasSubstr("takes two files"));
  EXPECT_THAT(run({"trace", "convert", path.c_str(), path.c_str()}).err,
              HasSubstr("would replace"));
  EXPECT_THAT(run({"trace", "info", path.c_str(), "--set", "gpus_min=x"}).err,
              HasSubstr("expected an integer"));
  EXPECT_THAT(run({"trace", "info", path.c_str(), "--set", "file=x"}).err,
              HasSubstr("name the file as an argument"));
  const Said nowhere = run({"trace", "convert", path.c_str(), "/no/such/folder/a.otr"});
  EXPECT_EQ(nowhere.status, 74);
  EXPECT_THAT(run({"trace", "info", "/no/such/file"}).err, HasSubstr("cannot open the file"));
}

TEST(TraceCommand, GenerateMakesUpATraceAndTellsHowNearItCame) {
  std::string log;
  for (int i = 0; i < 400; ++i) {
    log += std::to_string(i) + " " + std::to_string(i * 600) + " 0 " + std::to_string(60 + i % 7) +
           " 4 -1 -1 4 -1 -1 1 " + std::to_string(1 + i % 3) + " 1 -1 1 -1 -1 -1\n";
  }
  const test::TemporaryFile trace{log};
  const test::TemporaryFile made{""};
  const std::string target = made.path();
  const std::string text = "trace: {file: " + trace.path() + "}\njobs_max: 300\nspan: 100d\n";
  const std::string spec = target + ".yaml";
  std::ofstream{spec} << text;
  const Said said = run({"trace", "generate", spec.c_str(), target.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr(": 300 jobs after 400 of "));
  EXPECT_THAT(said.out, HasSubstr("between arrivals, s"));
  EXPECT_THAT(said.out, HasSubstr("rank of the user"));
  const test::ReadTrace read = test::read_file(target);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.format, TraceFormat::Native);
  EXPECT_EQ(read.jobs.size(), 300U);
  const Said wrong = run({"trace", "generate", spec.c_str(), target.c_str(), "--set", "load=-1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("load"));
  const Said same = run({"trace", "generate", spec.c_str(), spec.c_str()});
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("would replace"));
  std::ofstream{spec} << "trace: {file: nowhere.csv}\n";
  EXPECT_EQ(run({"trace", "generate", spec.c_str(), target.c_str()}).status, 2);
  std::ofstream{spec} << "load: 2\n";
  EXPECT_THAT(run({"trace", "generate", spec.c_str(), target.c_str()}).err, HasSubstr("trace"));
  std::filesystem::remove(spec);
}

TEST(TraceCommand, InfoKnowsFailureLogsToo) {
  const test::TemporaryFile file{
      "SN,location,insert,remove,duration,out,event\n"
      "1,c0-0c0s0n0,2014-01-01 00:00:00,2014-01-11 00:00:00,864000,TRUE,DBE\n"
      "2,c0-0c0s0n1,2014-01-01 00:00:00,2014-01-11 00:00:00,864000,TRUE,\n"};
  const std::string path = file.path();
  const Said said = run({"trace", "info", path.c_str()});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("titan (failures)"));
  EXPECT_THAT(said.out, HasSubstr("failures              1"));
  EXPECT_THAT(said.out, HasSubstr("rate                  50 failures per 1,000 node-days"));
  EXPECT_THAT(said.out, HasSubstr("100.0 %"));
  const Said filtered = run({"trace", "info", path.c_str(), "--set", "causes=[OTB]"});
  EXPECT_EQ(filtered.status, 2);
  EXPECT_THAT(filtered.err, HasSubstr("no failure of"));
}

}  // namespace
}  // namespace orrery

// The Alibaba PAI log of 2020: its tables of tasks, instances, jobs, groups, sensors and machines.
#include <filesystem>
#include <string>
#include <vector>

#include "models/workload/sources/trace_source.hpp"
#include "models/workload/traces/native/native_writer.hpp"
#include "models/workload/traces/tables/openb_nodes.hpp"
#include "models/workload/traces/tables/series.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::notes_of;
using Strings = std::vector<std::string>;
using namespace literals;

class PaiFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    write("pai_task_table.csv",
          "job1,worker,3,Terminated,1010.5,2010.5,600.0,29.3,50.0,MISC\n"
          "job1,ps,1,Terminated,1010.0,2010.0,150,8,,\n"
          "job2,tensorflow,1,Failed,1020.0,1030.0,600.0,29.3,200.0,V100\n"
          "job3,worker,1,Running,1030.0,,600.0,29.3,25.0,T4\n"
          "job4,worker,1,Waiting,,,600.0,29.3,25.0,T4\n");
  }
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  TraceParams params(std::string_view table = "pai_task_table.csv") const {
    TraceParams params;
    params.file = (folder_ / table).string();
    return params;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(PaiFolder, TasksAreJoinedWithTheirJobsAndGroups) {
  write("pai_job_table.csv",
        "job1,i1,alice,Terminated,1000.0,2010.0\njob2,i2,bob,Failed,1025.0,1030.0\n");
  write("pai_group_tag_table.csv", "i1,alice,V100,g1,bert\n");
  const auto reader = open_trace(params());
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << *reader->error();
  EXPECT_EQ(reader->format(), TraceFormat::Pai);
  EXPECT_EQ(job->name.view(), "job1/worker");
  EXPECT_EQ(job->submit, Time{} + 1000_s);
  EXPECT_EQ(job->wait_recorded, 10'500_ms);
  EXPECT_EQ(job->duration, 1000_s);
  EXPECT_EQ(job->pods, 3);
  EXPECT_EQ(job->gpu_milli_total(), 1500);
  EXPECT_EQ(job->cpu_milli_per_pod, 6000);
  EXPECT_EQ(job->user, "alice");
  EXPECT_EQ(job->application, "bert");
  EXPECT_EQ(job->gpu_models, "V100M16");  // the catalogue's name for V100
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->gpus(), 0);
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->gpus(), 2);
  EXPECT_EQ(job->submit, Time{} + 1020_s);
  EXPECT_EQ(
      notes_of(*reader),
      (Strings{"1 left out: still running when the recording stopped", "1 left out: never started",
               "1 started before its job was submitted: arrives when it started",
               "1 its job is not in the job table: arrives when it started"}));
}

TEST_F(PaiFolder, WithoutAJobTableTasksArriveWhenTheyStarted) {
  const auto reader = open_trace(params());
  EXPECT_EQ(
      notes_of(*reader),
      (Strings{"1 left out: still running when the recording stopped", "1 left out: never started",
               "4 there is no job table beside: arrives when it started"}));
  write("pai_job_table.csv", "job1,i1,alice,Terminated,x,2010.0\n");
  EXPECT_NE(open_trace(params())->error().value_or("").find(
                "pai_job_table.csv:1:5 (start_time): found 'x'"),
            std::string::npos);
}

TEST_F(PaiFolder, AJobWhoseRowHasNoStartTimeIsRemarkedOn) {
  write("pai_job_table.csv", "job1,i1,alice,Terminated,,2010.0\njob2,i2,bob,Failed,1015,1030\n");
  const auto reader = open_trace(params());
  EXPECT_EQ(
      notes_of(*reader),
      (Strings{"1 left out: still running when the recording stopped", "1 left out: never started",
               "2 its job's row has no start_time: arrives when it started",
               "1 its job is not in the job table: arrives when it started"}));
}

TEST_F(PaiFolder, AMalformedRowBesideIsSkippedAndToldWhereThatIsAllowed) {
  write("pai_job_table.csv", "job1,i1,alice,Terminated,x,2010.0\njob2,i2,bob,Failed,1015,1030\n");
  TraceParams lenient = params();
  lenient.lenient = true;
  const auto reader = open_trace(lenient);
  const Strings notes = notes_of(*reader);
  EXPECT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(reader->counts().skipped, 0);  // malformed rows of the trace itself
  ASSERT_EQ(reader->skipped_examples().size(), 1U);
  ASSERT_FALSE(notes.empty());
  EXPECT_NE(notes.back().find("pai_job_table.csv malformed, skipped; the first: "),
            std::string::npos);
  EXPECT_NE(notes.back().find("pai_job_table.csv:1:5 (start_time): found 'x'"), std::string::npos);
}

constexpr std::string_view kInstances =
    "job1,worker,i1,w1,x,Terminated,1011,1500,m1\n"
    "job1,worker,i2,w2,x,Terminated,1012,2010,m2\n"
    "job1,ps,i3,w3,x,Failed,1010,1020,m1\n"
    "job9,worker,i4,w4,x,Failed,1010,1020,m1\n"
    "job2,tensorflow,i5,w5,x,Running,1020,,m3\n";

TEST_F(PaiFolder, InstancesAreJobsWithTimesAndMachinesOfTheirOwn) {
  write("pai_instance_table.csv", std::string{kInstances});
  write("pai_job_table.csv", "job1,i1,alice,Terminated,1000.0,2010.0\n");
  TraceParams wanted = params("pai_instance_table.csv");
  wanted.recorded_nodes = true;
  const auto reader = open_trace(wanted);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(reader->format(), TraceFormat::PaiInstances);
  EXPECT_EQ(job->name.view(), "w1");
  EXPECT_EQ(job->submit, Time{} + 1000_s);
  EXPECT_EQ(job->duration, 489_s);
  EXPECT_EQ(job->pods, 1);
  EXPECT_EQ(job->gpu_milli_total(), 500);
  EXPECT_EQ(job->user, "alice");
  EXPECT_EQ(job->node, "m1");
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->duration, 998_s);
  EXPECT_EQ(job->node, "m2");
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->status, TraceStatus::Failed);
  EXPECT_EQ(job->gpus(), 0);
  EXPECT_EQ(reader->next(), nullptr);
  const TraceCounts counts = reader->counts();
  EXPECT_EQ(counts.rows, 5);
  EXPECT_EQ(counts.rows, counts.left_out + counts.delivered);
  EXPECT_EQ(counts.left_out, 2);  // job9 is not in the task table, and job2 had not ended
  EXPECT_EQ(reader->side_files().size(), 2U);
  wanted.recorded_nodes = false;
  EXPECT_EQ(open_trace(wanted)->next()->node, "");
  std::filesystem::remove(params().file);
  EXPECT_NE(open_trace(wanted)->error().value_or("").find("put pai_task_table.csv beside it"),
            std::string::npos);
}

TEST_F(PaiFolder, PodsGoOnlyToTheNodeWhereTheyRanIfThatIsAskedFor) {
  write("pai_instance_table.csv", std::string{kInstances});
  TraceSourceParams wanted;
  wanted.file = params("pai_instance_table.csv").file;
  wanted.recorded_nodes = true;
  const auto source = make_trace_source(wanted, {});
  const JobSpec* job = source->peek();
  ASSERT_NE(job, nullptr) << source->error().value_or("");
  const PodSpec& spec = job->gangs[0].roles[0].spec;
  ASSERT_EQ(spec.required_terms.size(), 1U);
  const Requirement& where = spec.required_terms[0].all_of.back();
  EXPECT_EQ(where.key, "kubernetes.io/hostname");
  EXPECT_EQ(where.values, Strings{"m1"});
}

TEST_F(PaiFolder, TheNativeFormatKeepsTheNodesThatWereAskedFor) {
  write("pai_instance_table.csv", std::string{kInstances});
  TraceParams wanted = params("pai_instance_table.csv");
  wanted.recorded_nodes = true;
  const test::TemporaryFile file{""};
  NativeWriter writer{file.path(), {}};
  const auto instances = open_trace(wanted);
  while (const TraceJob* job = instances->next()) writer.add(*job);
  ASSERT_TRUE(writer.finish()) << writer.error();
  wanted.file = file.path();
  const auto native = open_trace(wanted);
  EXPECT_EQ(native->next()->node, "m1");
  EXPECT_EQ(native->next()->node, "m1");
  EXPECT_EQ(native->next()->node, "m2");
  EXPECT_EQ(native->next(), nullptr);
  EXPECT_EQ(native->error().value_or(""), "");
}

TEST_F(PaiFolder, PodsAskForWhatTheirSensorsSawIfThatIsAskedFor) {
  TraceParams measured = params();
  measured.pai.measured = true;
  EXPECT_NE(open_trace(measured)->error().value_or("").find("no pai_sensor_table.csv"),
            std::string::npos);
  write("pai_sensor_table.csv",
        "job1,worker,w1,i1,m1,MISC,120,10,1.5,2,0.5,0.75,1,1,1,1\n"
        "job1,worker,w2,i2,m2,MISC,80,30,1.5,4,0.5,0.75,1,1,1,1\n"
        "job1,worker,w4,i4,m2,MISC,,,,,,,,,,\n"
        "job2,tensorflow,w5,i5,m1,V100,50,110,1,1,1,1,1,1,1,1\n");
  auto reader = open_trace(measured);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(job->name.view(), "job1/ps");  // ps has no measurements, and so keeps its planned CPUs
  EXPECT_EQ(job->cpu_milli_per_pod, 1500);
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->cpu_milli_per_pod, 1000);  // (120 + 80) / 2 hundredths of a core
  EXPECT_EQ(job->gpus(), 3);
  EXPECT_EQ(job->gpu_milli, 200);                        // (10 + 30) / 2 hundredths of a GPU
  EXPECT_EQ(job->memory_per_pod, Bytes{4'000'000'000});  // the larger one of both workers
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->gpus(), 2);  // 110 hundredths of a GPU take two GPUs
  EXPECT_EQ(job->gpu_milli, 1000);
  write("pai_instance_table.csv", std::string{kInstances});
  measured.file = params("pai_instance_table.csv").file;
  reader = open_trace(measured);
  EXPECT_EQ(reader->next()->name.view(), "w3");  // w3 has no measurements
  EXPECT_EQ(reader->next()->gpu_milli, 100);     // measured for w1, not for its task
  EXPECT_EQ(reader->next()->gpu_milli, 300);
}

TEST(PaiMachines, AreNodesLikeThoseOfOpenb) {
  const OpenbNodeList list = parse_openb_nodes("m1,CPU,96,512,0\nm2,V100,96,384,8\n", "m.csv");
  ASSERT_EQ(list.errors, Strings{});
  ASSERT_EQ(list.nodes.size(), 2U);
  EXPECT_EQ(list.nodes[0].cpu_milli, 96'000);
  EXPECT_EQ(list.nodes[0].model, "");
  EXPECT_EQ(list.nodes[1].memory, Bytes{int64_t{384} << 30U});
  EXPECT_EQ(list.nodes[1].gpus, 8);
  EXPECT_EQ(list.nodes[1].model, "V100M16");
  EXPECT_EQ(parse_openb_nodes("m1,CPU,96,512,0\nm2,CPU,96,384,8\n", "m.csv").errors,
            Strings{"m.csv:2:2 (gpu_type): found 'CPU', expected a GPU model, as there are GPUs"});
}

TEST(PaiMachines, OfTheRealListAllAreRead) {
  const auto path = test::real_trace("alibaba-pai-v2020/raw/pai_machine_spec.tar.gz");
  ORRERY_NEED_TRACE(path);
  const OpenbNodeList list = read_openb_nodes(path.string());
  ASSERT_EQ(list.errors, Strings{});
  EXPECT_EQ(list.nodes.size(), 1897U);
  int64_t gpus = 0;
  for (const OpenbNode& node : list.nodes) gpus += node.gpus;
  EXPECT_EQ(gpus, 6742);
}

}  // namespace
}  // namespace orrery

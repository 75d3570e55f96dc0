// Acme, DLRM, spot, Sia, Gavel and Shockwave: the job that each row becomes, including the quirks
// of each format.
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

Strings notes_of(const std::string& text, TraceParams params = {}) {
  params.file = "jobs.csv";
  const auto reader = open_trace_text(params, text);
  while (reader->next() != nullptr) {
  }
  Strings out;
  for (const TraceNote& note : reader->notes())
    out.push_back(std::to_string(note.rows) + " " + note.what);
  if (reader->error()) out.push_back(*reader->error());
  return out;
}

const std::string kSeren =
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time\n";

TEST(Acme, DurationsOfSerenGoFromStartToEnd) {
  const std::string text =
      kSeren +
      "5778432,u1907,2,16.0,240,Pretrain,COMPLETED,2023-03-01 00:10:00+08:00,"
      "2023-03-01 00:11:00+08:00,2023-03-01 01:11:00+08:00,3600,60,57600\n"
      "5778433,u1907,1,0,4,Other,PENDING,2023-03-01 00:20:00+08:00,,,,,\n"
      "5778434,u1907,1,1,4,Debug,RUNNING,2023-03-01 00:20:00+08:00,2023-03-01 00:21:00+08:00,,,,\n";
  const ReadTrace trace = read_text(text);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::AcmeSeren);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 10_min);  // time 0 is midnight, in local time
  EXPECT_EQ(trace.jobs[0].wait_recorded, 1_min);
  EXPECT_EQ(trace.jobs[0].duration, 1_h);
  EXPECT_EQ(trace.jobs[0].pods, 2);
  EXPECT_EQ(trace.jobs[0].gpus_per_pod, 8);
  EXPECT_EQ(trace.jobs[0].cpu_milli_per_pod, 120'000);
  EXPECT_EQ(notes_of(text), (Strings{"1 left out: never started",
                                     "1 left out: still running when the recording stopped"}));
}

TEST(Acme, DurationsOfKalosAreNotItsColumnWhichHoldsTheWait) {
  const ReadTrace trace = read_text(
      "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,"
      "submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n"
      "dlctk696s0jbvitv,uf794,1,8,120,960.0,100.0,SFT,FAILED,2023-05-17T11:00:58.123+00:00,"
      "2023-05-17T11:01:08.123+00:00,2023-05-17T11:01:18.123+00:00,,,20,10,160\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::AcmeKalos);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 11_h + 58'123_ms);
  EXPECT_EQ(trace.jobs[0].duration, 10_s);
  EXPECT_EQ(trace.jobs[0].memory_per_pod.count, 960'000'000'000);
  EXPECT_EQ(trace.jobs[0].status, TraceStatus::Failed);
}

TEST(Acme, TheConvertedTableCountsHalfSeconds) {
  const ReadTrace trace = read_text(
      "job_id,arrival_time,num_iteration,iteration_computing_time,iteration_networking_time,"
      "gpu_workers,ps,gpu_per_worker,cpu_per_gpu_worker,cpu_per_ps_worker,tensorsizes,"
      "profiled_network\n1,313.0,156,0.5,0.25,8,0,8.0,15.0,15.0,10.0,1000\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::AcmeConverted);
  EXPECT_EQ(trace.jobs[0].duration, 78_s);
  EXPECT_EQ(trace.jobs[0].gpus(), 64);
  EXPECT_EQ(trace.jobs[0].cpu_milli_per_pod, 120'000);
}

const std::string kDlrm =
    "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,"
    "memory_request,memory_limit,disk_request,disk_limit,max_instance_per_node,creation_time,"
    "scheduled_time,deletion_time\n";

TEST(Dlrm, AnEmptyTimeLiesOutsideTheThirtyOneDays) {
  const std::string text = kDlrm +
                           "instance_0,HN,app_0,12,12,1,1,25,25,120.0,120.0,640.0,800.0,8,,,\n"
                           "instance_1,CN,app_0,48,48,0,0,25,25,240.0,240.0,680.0,800.0,-1,475.5,"
                           "480.5,1000.5\n";
  const ReadTrace trace = read_text(text);
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::Dlrm);
  EXPECT_EQ(trace.jobs[0].submit, Time{});
  EXPECT_EQ(trace.jobs[0].duration, 31_d);
  EXPECT_EQ(trace.jobs[0].status, TraceStatus::Running);
  EXPECT_EQ(trace.jobs[0].memory_per_pod, 120_GiB);
  EXPECT_EQ(trace.jobs[0].gpus(), 1);
  EXPECT_EQ(trace.jobs[1].submit, Time{} + 475'500_ms);
  EXPECT_EQ(trace.jobs[1].wait_recorded, 5_s);
  EXPECT_EQ(trace.jobs[1].duration, 520_s);
  EXPECT_EQ(notes_of(text),
            (Strings{"2 asks for a share of a NIC: not replayed", "2 asks for disk: not replayed",
                     "1 limits its application's instances on a node: not replayed",
                     "1 was there before the recording began",
                     "1 was there when the recording stopped"}));
}

const std::string kSpot =
    "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
    "job_type\n";

TEST(Spot, JobsAreGangsOfWorkersInTwoClasses) {
  const ReadTrace trace = read_text(kSpot +
                                    "job_1,org_3,A100-SXM4-80GB,96,8,4,0,3600,HP\n"
                                    "job_2,org_3,A10,7.5,0.5,1,10,20,Spot\n");
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::Spot);
  EXPECT_EQ(trace.jobs[0].gpus(), 32);
  EXPECT_EQ(trace.jobs[0].pods, 4);
  EXPECT_EQ(trace.jobs[0].priority, TracePriority::High);
  EXPECT_EQ(trace.jobs[1].gpu_milli_total(), 500);
  EXPECT_EQ(trace.jobs[1].cpu_milli_per_pod, 7500);
  EXPECT_EQ(trace.jobs[1].priority, TracePriority::Low);
  EXPECT_EQ(read_text(kSpot + "job_1,org_3,A10,96,1.5,4,0,3600,HP\n").error,
            "jobs.csv:2:5 (gpu_request): found '1.5', expected whole GPUs, or a share of one");
}

TEST(Sia, AWorkloadNeedsADurationFromElsewhere) {
  const std::string text = "name,time,application,num_replicas,batch_size\nbert-1,7.5,bert,8,384\n";
  EXPECT_EQ(
      read_text(text).error,
      "default_duration: a trace of format sia does not say how long jobs run: set this parameter");
  const ReadTrace trace = read_text(text, {.default_duration = 1_h});
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 7500_ms);
  EXPECT_EQ(trace.jobs[0].duration, 1_h);
}

const std::string kGavel =
    "ResNet-18 (batch size 32)\tpython3 main.py --data_dir=%s/cifar10\t--num_steps\t1\t1000\t"
    "12.5\t2\nA3C\tcommand\t--steps\t0\t10\t20.0\t16\n";

TEST(Gavel, StepsBecomeDurationsByTheThroughputOfAGpu) {
  const test::TemporaryFile throughputs{
      R"json({"k80": {"('ResNet-18 (batch size 32)', 2)": {"null": 1}},
          "v100": {"('ResNet-18 (batch size 32)', 2)": {"('A3C', 1)": [2, 3], "null": 2.5}}})json"};
  TraceParams params{.gavel = {.throughputs = throughputs.path()}};
  const ReadTrace trace = read_text(kGavel, params);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::Gavel);
  EXPECT_EQ(trace.jobs[0].duration, 400_s);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 12'500_ms);
  EXPECT_EQ(trace.jobs[0].gpus(), 2);
  EXPECT_EQ(notes_of(kGavel, params),
            (Strings{"1 left out: its throughput on so many GPUs is unknown"}));
  params.gavel.gpu = "k80";
  EXPECT_EQ(read_text(kGavel, params).jobs.at(0).duration, 1000_s);
  params.gavel.gpu = "h100";
  EXPECT_EQ(read_text(kGavel, params).error,
            throughputs.path() + ": no GPU is called 'h100' (gavel.gpu)");
}

TEST(Gavel, WithoutThroughputsADurationMustBeGiven) {
  EXPECT_EQ(read_text(kGavel).error,
            "gavel.throughputs: jobs.csv counts steps, and there is no simulation_throughputs.json "
            "beside it: name one, or set default_duration");
  EXPECT_EQ(read_text(kGavel, {.default_duration = 5_s}).jobs.size(), 2U);
}

TEST(Shockwave, ALineHasTwelveFields) {
  const ReadTrace trace = read_text(
      "LM (batch size 10)\tpython3 main.py\tlanguage_modeling\t--steps\t1\t134583\t4\tgns\t1\t"
      "-1.000000\t1418\t55\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::Shockwave);
  EXPECT_EQ(trace.jobs[0].duration, 1418_s);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 55_s);
  EXPECT_EQ(trace.jobs[0].gpus(), 4);
}

}  // namespace
}  // namespace orrery

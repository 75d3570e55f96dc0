#include <string>
#include <vector>

#include "models/scenario/cluster_params.hpp"
#include "models/workload/traces/tables/openb_nodes.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

const std::string kNodeListHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

ReadTrace read_pods(const std::string& rows, TraceParams params = {}) {
  return read_text(kNodeListHeader + rows, std::move(params));
}

TEST(OpenbPods, ARowBecomesAJobOfOnePod) {
  TraceParams params{.file = "jobs.csv", .warm_start = false};
  const std::string text =
      kNodeListHeader + "openb-pod-0061,11908,47104,1,460,T4|P100,LS,Succeeded,100,500,110.0\n";
  const auto reader = open_trace_text(params, text);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << *reader->error();
  EXPECT_EQ(job->name.view(), "openb-pod-0061");
  EXPECT_EQ(job->submit, Time{} + 100_s);
  EXPECT_EQ(job->duration, 390_s);
  EXPECT_EQ(job->wait_recorded, 10_s);
  EXPECT_EQ(job->pods, 1);
  EXPECT_EQ(job->gpu_milli_total(), 460);
  EXPECT_EQ(job->cpu_milli_per_pod, 11'908);
  EXPECT_EQ(job->memory_per_pod, 47104_MiB);
  EXPECT_EQ(job->gpu_models, "T4|P100");
  EXPECT_EQ(job->priority, TracePriority::High);
  EXPECT_EQ(job->status, TraceStatus::Completed);
}

TEST(OpenbPods, AWarmStartBeginsAtTheFirstDeletion) {
  const std::string rows =
      "old,1,1,1,1000,,LS,Running,0,9964982,0\n"
      "last,1,1,1,1000,,LS,Running,5,9964972,5\n"
      "new,1,1,1,1000,,BE,Running,9965000,9965100,9965001\n";
  const ReadTrace warm = read_pods(rows);
  ASSERT_EQ(warm.names, (Strings{"old", "last", "new"})) << warm.error;
  EXPECT_EQ(warm.jobs[0].submit, Time{});
  EXPECT_EQ(warm.jobs[0].duration, 10_s);
  EXPECT_EQ(warm.jobs[1].duration, 0_s);
  EXPECT_EQ(warm.jobs[2].submit, Time{} + 28_s);
  EXPECT_EQ(warm.jobs[2].duration, 99_s);
  const ReadTrace cold = read_pods(rows, {.warm_start = false});
  ASSERT_EQ(cold.jobs.size(), 3U);
  EXPECT_EQ(cold.jobs[0].duration, 9'964'982_s);
  const ReadTrace later = read_pods(rows, {.window_start = "9964980"});
  EXPECT_EQ(later.names, (Strings{"old", "new"}));
}

TEST(OpenbPods, WhatRanAtAWarmStartComesFirstInTheOrderOfItsStarts) {
  const std::string rows =
      "waits,1,1,1,1000,,LS,Running,10,500,200\n"
      "ran_last,1,1,1,1000,,LS,Running,20,600,90\n"
      "ran_first,1,1,1,1000,,LS,Running,30,700,40\n"
      "comes,1,1,1,1000,,LS,Running,100,800,120\n"
      "gone,1,1,1,1000,,LS,Running,5,99,6\n";
  for (const TraceSort sort : {TraceSort::All, TraceSort::Window}) {
    const ReadTrace trace = read_pods(rows, {.window_start = "100", .sort = sort});
    ASSERT_EQ(trace.names, (Strings{"ran_first", "ran_last", "waits", "comes"})) << trace.error;
    for (const TraceJob& job : trace.jobs) EXPECT_EQ(job.submit, Time{});
    EXPECT_EQ(trace.jobs[0].duration, 600_s);
    EXPECT_EQ(trace.jobs[2].duration, 300_s);
    EXPECT_EQ(trace.counts.warm_started, 3);
    EXPECT_EQ(trace.counts.outside_window, 1);
  }
}

TEST(OpenbPods, PendingPodsLastUntilTheirDeletionOrAreLeftOut) {
  const std::string rows = "p,1,1,1,1000,,BE,Pending,10000000,10000100,\n";
  const ReadTrace with = read_pods(rows, {.warm_start = false});
  ASSERT_EQ(with.jobs.size(), 1U) << with.error;
  EXPECT_EQ(with.jobs[0].duration, 100_s);
  EXPECT_EQ(with.jobs[0].wait_recorded, TraceJob::kUnknownWait);
  const ReadTrace without = read_pods(rows, {.openb = {.pending_jobs = false}});
  EXPECT_TRUE(without.jobs.empty());
  EXPECT_EQ(without.counts.never_started, 1);
}

TEST(OpenbPods, UnsortedListsAreSortedByCreation) {
  std::string rows;
  for (int i = 0; i < 9000; ++i) {
    const std::string created = std::to_string(10'000'000 + (i * 7919) % 9000);
    rows +=
        "p" + std::to_string(i) + ",1,1,0,0,,BE,Running," + created + ",10100000," + created + "\n";
  }
  const ReadTrace trace = read_pods(rows, {.warm_start = false});
  ASSERT_EQ(trace.jobs.size(), 9000U) << trace.error;
  for (size_t i = 1; i < trace.jobs.size(); ++i) {
    ASSERT_EQ(trace.jobs[i].submit - trace.jobs[i - 1].submit, 1_s);
  }
}

TEST(OpenbPods, MoreThanAWholeGpuCountsAsOne) {
  const ReadTrace trace = read_pods("p,1,1,1,1500,,BE,Running,10000000,10000100,10000000\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].gpu_milli, 1000);
}

TEST(OpenbPods, WrongFieldsAreReportedByRowColumnAndName) {
  struct Case {
    std::string row, error;
  };
  const std::vector<Case> cases = {
      {"p,-1,1,1,1000,,BE,Running,0,1,0",
       "2 (cpu_milli): found '-1', expected an integer from 0 to 10000000"},
      {"p,1,1.5,1,1000,,BE,Running,0,1,0",
       "3 (memory_mib): found '1.5', expected an integer from 0 to 1073741824"},
      {"p,1,1,17,1000,,BE,Running,0,1,0",
       "4 (num_gpu): found '17', expected an integer from 0 to 16"},
      {"p,1,1,1,0,,BE,Running,0,1,0", "5 (gpu_milli): found '0', expected 1 or more with a GPU"},
      {"p,1,1,2,500,,BE,Running,0,1,0",
       "5 (gpu_milli): found '500', expected 1000 with several GPUs"},
      {"p,1,1,1,1000,,be,Running,0,1,0",
       "7 (qos): found 'be', expected one of LS Guaranteed Burstable BE"},
      {"p,1,1,1,1000,,BE,Done,0,1,0",
       "8 (pod_phase): found 'Done', expected one of Running Succeeded Failed Pending"},
      {"p,1,1,1,1000,,BE,Running,NaN,1,0",
       "9 (creation_time): found 'NaN', expected an integer from 0 to 9000000000"},
      {"p,1,1,1,1000,,BE,Running,5,4,5",
       "10 (deletion_time): found '4', expected a time not before the pod's start"},
      {"p,1,1,1,1000,,BE,Running,5,9,4",
       "11 (scheduled_time): found '4', expected a time not before creation_time"},
      {"p,1,1,1,1000,,BE,Running,5,9,nan",
       "11 (scheduled_time): found 'nan', expected a number of seconds >= 0"},
      {"p,1,1,1,1000,,BE,Running,5,9,",
       "11 (scheduled_time): found '', expected a time, as the pod is not Pending"},
  };
  for (const Case& c : cases) EXPECT_EQ(read_pods(c.row + "\n").error, "jobs.csv:2:" + c.error);
}

TEST(OpenbPods, ListsWithoutTimesCannotBeReplayed) {
  EXPECT_EQ(read_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1000\n",
                      {.format = TraceFormat::Openb})
                .error,
            "jobs.csv:1: missing column 'gpu_spec'");
}

TEST(OpenbNodes, RowsBecomeNodes) {
  const OpenbNodeList list = parse_openb_nodes(
      "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,393216,8,G2\n", "n.csv");
  ASSERT_EQ(list.errors, Strings{});
  ASSERT_EQ(list.nodes.size(), 2U);
  EXPECT_EQ(list.nodes[0].model, "");
  EXPECT_EQ(list.nodes[1].name, "n1");
  EXPECT_EQ(list.nodes[1].cpu_milli, 96'000);
  EXPECT_EQ(list.nodes[1].memory, 384_GiB);
  EXPECT_EQ(list.nodes[1].gpus, 8);
}

TEST(OpenbNodes, WrongFieldsAreAllTold) {
  const OpenbNodeList list = parse_openb_nodes(
      "sn,cpu_milli,memory_mib,gpu,model\nn0,0,1,0,\nn1,1,1,8,\nn2,1,1,0,T4\n,1,1,0,\n", "n.csv");
  EXPECT_EQ(list.errors,
            (Strings{"n.csv:2:2 (cpu_milli): found '0', expected an integer from 1 to 10000000",
                     "n.csv:3:5 (model): found '', expected a GPU model, as there are GPUs",
                     "n.csv:4:5 (model): found 'T4', expected nothing, as there are no GPUs",
                     "n.csv:5:1 (sn): found '', expected a name"}));
}

TEST(OpenbNodes, TheListOfTheSpotSetTellsNoMemory) {
  const OpenbNodeList list = parse_openb_nodes(
      "gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,7\nH800,8,192,8\n", "n.csv");
  ASSERT_EQ(list.errors, Strings{});
  ASSERT_EQ(list.nodes.size(), 2U);
  EXPECT_EQ(list.nodes[1].name, "8");
  EXPECT_EQ(list.nodes[1].model, "H800");
  EXPECT_EQ(list.nodes[1].gpus, 8);
  EXPECT_EQ(list.nodes[1].cpu_milli, 192'000);
  EXPECT_EQ(list.nodes[1].memory.count, 0);
  EXPECT_EQ(
      parse_openb_nodes("gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,0,128,7\n", "n.csv")
          .errors,
      (Strings{"n.csv:2:2 (gpu_capacity_num): found '0', expected a whole number from 1 to "
               "64"}));
}

TEST(OpenbNodes, AnotherGpuMayStandForOneThatNoMachineHas) {
  const test::TemporaryFile file{
      "gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,7\nH800,8,192,8\n"};
  ClusterParams params;
  params.openb_nodes.push_back({.file = file.path()});
  ClusterState refused;
  EXPECT_EQ(build_nodes(params, refused, 1).error,
            file.path() +
                ": node '8': no machine of the catalogue has 8 GPUs of model 'H800': map "
                "this model to another in stand_ins");
  params.openb_nodes[0].stand_ins = {{"H800", "H100M80"}};
  ClusterState state;
  const BuiltPools built = build_nodes(params, state, 1);
  ASSERT_EQ(built.error, "");
  ASSERT_EQ(state.nodes(), 2U);
  EXPECT_EQ(built.machines[state.machine({1})].gpu.name, "H100M80");
  const SelectorTerm h800{
      .all_of = {
          {.key = std::string{kGpuProductLabel}, .op = SelectorOperator::In, .values = {"H800"}}}};
  EXPECT_TRUE(state.matching(h800).contains({1}));
  EXPECT_EQ(state.free({1}, Resource::Cpu), 192'000);
  EXPECT_GT(state.free({1}, Resource::Memory), 0);
}

TEST(OpenbNodes, ShuffledOnesAreTheSameInTheirLeaves) {
  std::string text = "sn,cpu_milli,memory_mib,gpu,model\n";
  for (int i = 10; i < 90; ++i) text += "n" + std::to_string(i) + ",96000,393216,8,G2\n";
  const test::TemporaryFile file{text};
  ClusterParams params;
  params.openb_nodes.push_back({.file = file.path(), .nodes_per_leaf = 10});
  const auto leaves = [&](uint64_t seed) {
    ClusterState state;
    static_cast<void>(build_nodes(params, state, seed));
    std::vector<std::pair<std::string, uint32_t>> nodes;
    for (uint32_t n = 0; n < state.nodes(); ++n) {
      nodes.emplace_back(state.name({n}), state.leaf({n}));
    }
    return nodes;
  };
  const auto listed = leaves(1);
  EXPECT_TRUE(std::ranges::is_sorted(listed));
  params.openb_nodes[0].shuffle = true;
  auto shuffled = leaves(1);
  EXPECT_NE(shuffled, listed);
  EXPECT_NE(shuffled, leaves(2));
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, listed);
}

}  // namespace
}  // namespace orrery

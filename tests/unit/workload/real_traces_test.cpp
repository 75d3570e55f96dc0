// Published files of Helios and openb, if available: counts and sums that were published or
// recomputed by other means.
#include <array>
#include <chrono>
#include <map>
#include <string>

#include "models/workload/traces/tables/openb_nodes.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_file;
using test::ReadTrace;
using test::real_trace;

double gpu_hours(const ReadTrace& trace) {
  double sum = 0;
  for (const TraceJob& job : trace.jobs) {
    sum += static_cast<double>(job.gpu_milli_total()) / 1000 * job.duration.seconds() / 3600;
  }
  return sum;
}

TEST(RealTraces, HeliosVenusHasItsJobsAndGpuHours) {
  const auto path = real_trace("helios/venus_gpu_jobs_48hclamp.csv.gz");
  ORRERY_NEED_TRACE(path);
  const auto before = std::chrono::steady_clock::now();
  const ReadTrace trace = read_file(path);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  RecordProperty("parse_ms", std::to_string(took.count()));
  ASSERT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs.size(), 99'707U);
  EXPECT_NEAR(gpu_hours(trace), 1'990'760.53, 0.01);
  EXPECT_EQ(trace.jobs.front().submit, Time{});
  EXPECT_EQ(trace.jobs.back().submit, Time{14'414'259'000'000'000});
  EXPECT_EQ(trace.jobs.back().id, 765'468);
}

TEST(RealTraces, HeliosVenusSeptemberSliceHasItsOutcomes) {
  const auto path = real_trace("helios/venus_2vc_sept_canonical.csv");
  ORRERY_NEED_TRACE(path);
  const ReadTrace trace = read_file(path, {.queues = {"vcvlY"}});
  ASSERT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs.size(), 415U);
  EXPECT_NEAR(gpu_hours(trace), 9'097, 1);
  std::map<TraceStatus, int> outcomes;
  for (const TraceJob& job : trace.jobs) ++outcomes[job.status];
  EXPECT_EQ(outcomes[TraceStatus::Completed], 84);
  EXPECT_EQ(outcomes[TraceStatus::Cancelled], 173);
  EXPECT_EQ(outcomes[TraceStatus::Failed], 158);
}

TEST(RealTraces, OpenbDefaultHasItsPodsDemandAndPhases) {
  const auto path = real_trace("alibaba-gpu-v2023-openb/openb_pod_list_default.csv.gz");
  ORRERY_NEED_TRACE(path);
  const ReadTrace trace = read_file(path);
  ASSERT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs.size(), 8152U);
  EXPECT_EQ(trace.counts.warm_started, 33);
  int64_t gpu_milli = 0;
  int64_t cpu_milli = 0;
  int64_t sharing = 0;
  std::map<TraceStatus, int> phases;
  std::map<TracePriority, int> priorities;
  for (const TraceJob& job : trace.jobs) {
    gpu_milli += job.gpu_milli_total();
    cpu_milli += job.cpu_milli_per_pod;
    sharing += job.gpus() == 1 && job.gpu_milli < 1000 ? 1 : 0;
    ++phases[job.status];
    ++priorities[job.priority];
  }
  EXPECT_NEAR(static_cast<double>(gpu_milli) / 1000, 6086.8, 0.05);
  EXPECT_NEAR(static_cast<double>(cpu_milli) / 1000, 85'436, 0.5);
  EXPECT_EQ(sharing, 3078);
  EXPECT_EQ(phases[TraceStatus::Running], 5193);
  EXPECT_EQ(phases[TraceStatus::Failed], 1870);
  EXPECT_EQ(phases[TraceStatus::Pending], 897);
  EXPECT_EQ(phases[TraceStatus::Completed], 192);
  EXPECT_EQ(priorities[TracePriority::High], 4647 + 7);
  EXPECT_EQ(priorities[TracePriority::Low], 3398);
}

TEST(RealTraces, OpenbVariantsAreSortedAndConstrained) {
  const auto folder = real_trace("alibaba-gpu-v2023-openb");
  const auto path = folder / "openb_pod_list_gpushare40.csv.gz";
  ORRERY_NEED_TRACE(path);
  const ReadTrace shared = read_file(path, {.warm_start = false});
  ASSERT_EQ(shared.error, "");
  EXPECT_EQ(shared.jobs.size(), 8152U);
  for (size_t i = 1; i < shared.jobs.size(); ++i) {
    ASSERT_LE(shared.jobs[i - 1].submit, shared.jobs[i].submit);
  }
  // In this variant all times are 427,061 s earlier. Every pod must still be read.
  const auto shifted = folder / "openb_pod_list_gpushare20.csv.gz";
  ORRERY_NEED_TRACE(shifted);
  EXPECT_EQ(read_file(shifted).jobs.size(), 8152U);
  const auto constrained = folder / "openb_pod_list_gpuspec10.csv.gz";
  ORRERY_NEED_TRACE(constrained);
  TraceParams params;
  params.file = constrained.string();
  const auto reader = open_trace(params);
  int with_model = 0;
  while (const TraceJob* job = reader->next()) with_model += job->gpu_models.empty() ? 0 : 1;
  EXPECT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(with_model, 732);
}

TEST(RealTraces, OpenbNodesHaveTheirGpus) {
  const auto path = real_trace("alibaba-gpu-v2023-openb/openb_node_list_all_node.csv");
  ORRERY_NEED_TRACE(path);
  const OpenbNodeList list = read_openb_nodes(path.string());
  ASSERT_TRUE(list.errors.empty()) << list.errors.front();
  EXPECT_EQ(list.nodes.size(), 1523U);
  int64_t gpus = 0;
  int64_t gpu_nodes = 0;
  int64_t cpu_milli = 0;
  std::map<std::string, int64_t> by_model;
  for (const OpenbNode& node : list.nodes) {
    gpus += node.gpus;
    gpu_nodes += node.gpus > 0 ? 1 : 0;
    cpu_milli += node.cpu_milli;
    by_model[node.model] += node.gpus;
  }
  EXPECT_EQ(gpus, 6212);
  EXPECT_EQ(gpu_nodes, 1213);
  EXPECT_EQ(cpu_milli, 125'514'000);
  EXPECT_EQ(by_model["G2"], 4392);
  EXPECT_EQ(by_model["T4"], 842);
  EXPECT_EQ(by_model["P100"], 265);
}

}  // namespace
}  // namespace orrery

// Useful GPU time in small random worlds: the timeline, the summary and the jobs' rows agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/telemetry/timeline_rows.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

std::string useful_number(uint64_t n) { return std::to_string(n); }

// Random gangs and independent pods. Checkpoints go to a store or to local disks, or only pause the
// job for a fixed time; some gangs save no checkpoints. Gangs may have dedicated parameter servers,
// and a service may run beside the jobs. Nodes fail, and in some worlds a leaf switch fails, too.
struct UsefulWorld {
  Rng rng;
  bool has_links = rng.chance(0.6);
  bool is_traced = has_links && rng.chance(0.3);

  std::string saving() {
    switch (rng.below(5)) {
      case 0:
        return "";
      case 1:
        return "checkpoint_interval: " + useful_number(20 + rng.below(400)) +
               "s, checkpoint_write: " + useful_number(rng.below(40)) + "s, restore: 5s, ";
      case 2:
        return "checkpoint_interval: 2min, checkpoint: {store: local, bytes: " +
               useful_number(1 + rng.below(50)) + "GB}, ";
      default:
        return "checkpoint_interval: 3min, checkpoint: {store: fs, bytes: " +
               useful_number(1 + rng.below(200)) +
               "GB, mode: " + (rng.chance(0.5) ? "sync" : "async") + "}, ";
    }
  }
  std::string step() {
    const std::string compute = "step: {compute: " + useful_number(200 + rng.below(2000)) + "ms";
    if (rng.chance(0.3)) {
      return compute +
             ", exchanges: [{collective: push_pull, bytes: 2GB, servers: {count: 1, placement: "
             "dedicated}}]}";
    }
    return compute + ", overlap: 0.3, exchanges: [{bytes: " + useful_number(1 + rng.below(8)) +
           "GB}]}";
  }
  std::string jobs() {
    std::string text;
    for (uint64_t j = 0; j < 4 + rng.below(6); ++j) {
      const bool is_gang = rng.chance(0.7);
      text += "        - {name: j" + useful_number(j) +
              ", submit: " + useful_number(rng.below(3600)) +
              "s, kind: " + (is_gang ? "mpi_gang" : "pods") +
              ", work: " + useful_number(60 + rng.below(4000)) +
              "s, pods: " + useful_number(1 + rng.below(4)) +
              ", pod: {gpus: " + useful_number(2 + rng.below(7)) + "}, training: {" +
              (is_gang ? saving() : "checkpoint_interval: 100s, checkpoint_write: 7s, ") +
              (is_gang && has_links ? step() : "init: 3s") + "}}\n";
    }
    return text;
  }
  // The stores that the text uses. An unused store would cause a warning.
  static std::string storage_of(const std::string& text) {
    std::string stores;
    if (text.find("store: local") != std::string::npos) stores = "  local: {write: 1GBps}\n";
    if (text.find("store: fs") != std::string::npos) {
      stores += "  stores: [{name: fs, write: 2GBps, read: 4GBps}]\n";
    }
    return stores.empty() ? "" : "storage:\n" + stores;
  }
  std::string yaml() {
    std::string text =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 6, nodes_per_leaf: 2}]}\n"
        "STORAGE"
        "policy: {base: strict_gang}\nrun: {until: 3h, seed: " +
        useful_number(rng.below(1000)) + "}\n";
    if (has_links) text += "network: {level: flow, links: {retry_timeout: 2min}}\n";
    text += "faults:\n  nodes: [{rate: 20000, repair: {kind: fixed, duration: 4min}}]\n";
    if (has_links && rng.chance(0.5)) {
      text += "  links: {list: [{on: leaf-0, at: 20min, until: 31min, flaw: {kind: dead}}]}\n";
    }
    text += "workload:\n";
    if (is_traced) text += "  steps: traced\n";
    text += "  sources:\n    - kind: jobs\n      jobs:\n" + jobs();
    if (rng.chance(0.5)) {
      text += "    - {kind: service, name: s, replicas: 3, pod: {gpus: 2}, load: [{at: 0s, load: " +
              useful_number(rng.below(5)) + "}, {at: 50min, load: 1.3}]}\n";
    }
    return text.replace(text.find("STORAGE"), 7, storage_of(text));
  }
};

TEST(UsefulTimeProperty, IsNeverBelowZeroNorAboveWhatIsReportedAndAddsUpToTheSummary) {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 15 : 120); ++seed) {
    UsefulWorld world{Rng{seed}};
    const std::string yaml = world.yaml();
    SCOPED_TRACE("seed " + useful_number(seed) + "\n" + yaml);
    ScenarioRun run{yaml, {}, {.audit_every = 500}};
    double total = 0, of_jobs = 0, held = 0;
    for (const JobRow& job : run.jobs()) {
      of_jobs += job.gpu_s_useful;
      for (const double part :
           {job.gpu_s_useful, job.gpu_s_lost, job.gpu_s_checkpoint, job.gpu_s_restore,
            job.gpu_s_held, job.gpu_s_hung, job.gpu_s_exchange, job.gpu_s_idle}) {
        EXPECT_GE(part, 0) << job.name.view();
        held += part;
      }
    }
    const auto cluster = run.recorder.rows<ClusterSample>("/timeline/cluster");
    const auto useful = run.recorder.rows<UsefulSample>("/timeline/useful");
    ASSERT_EQ(useful.size(), cluster.size());
    Time before;
    for (size_t i = 0; i < useful.size(); ++i) {
      EXPECT_EQ(useful[i].time, cluster[i].time);
      EXPECT_GE(useful[i].gpus_useful, 0) << "row " << i;
      // In gpus_reported, a service's share of compute is rounded to millionths. So the error is at
      // most 48e-6 with the cluster's 48 GPUs.
      EXPECT_LE(useful[i].gpus_useful, cluster[i].gpus_reported + 48e-6) << "row " << i;
      total += useful[i].gpus_useful * (useful[i].time - before).seconds();
      before = useful[i].time;
    }
    const auto figure = [&](std::string_view name) {
      const auto found = std::ranges::find(run.result.summary, name, &SummaryValue::name);
      return std::get<double>(found->value);
    };
    EXPECT_NEAR(total, figure("gpu_s_useful"), 1e-9 * total);
    EXPECT_NEAR(of_jobs, figure("gpu_s_useful"), 1e-9 * total);
    EXPECT_NEAR(held, figure("gpu_s_allocated"), 1e-6 * held + 1e-6);
  }
}

}  // namespace
}  // namespace orrery

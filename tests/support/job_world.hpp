// tests/support/job_world.hpp -- a cluster, a job controller and the simplest scheduler, for tests.
#pragma once

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/hardware/node_presence.hpp"
#include "models/workload/job/job_source.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "sim/record/recorder.hpp"
#include "tests/support/alike.hpp"

namespace orrery {

class ListedJobs final : public JobSource {
 public:
  explicit ListedJobs(std::vector<JobSpec> jobs) : jobs_{jobs.begin(), jobs.end()} {}
  const JobSpec* peek() override { return jobs_.empty() ? nullptr : &jobs_.front(); }
  void pop() override { jobs_.pop_front(); }

 private:
  std::deque<JobSpec> jobs_;
};

// A job controller on a cluster whose scheduler binds each pod at once to the first node with room,
// first come first served. A pod without room waits without blocking others.
class JobWorld {
 public:
  struct Options {
    uint32_t nodes = 4;
    uint32_t gpus = 8;  // GPUs of each node
    JobControllerParams params = {};
    uint64_t seed = 1;
    bool binds = true;
    bool records = true;  // writes rows; off for millions of jobs
    StorageParams storage = {};
  };

  JobWorld() : JobWorld{Options{}} {}
  explicit JobWorld(const Options& options)
      : rng{options.seed},
        binds_{options.binds},
        cluster{make_cluster(options.nodes, options.gpus)},
        storage{{engine, rng, recorder}, options.storage, options.nodes},
        controller{{engine, rng, recorder_of(options)},
                   cluster,
                   jobs,
                   options.params,
                   Arrivals::CreatePods,
                   &storage} {
    controller.connect(presence);
    controller.pods_created.connect([this](std::span<const PodId> pods) {
      queue.insert(queue.end(), pods.begin(), pods.end());
      if (records_creations) creations.emplace_back(pods.begin(), pods.end());
      if (binds_) bind_all();
    });
    controller.pod_removed.connect([this](PodId pod) {
      if (jobs.pod(pod).state == PodState::Pending) {
        std::erase(queue, pod);
      } else {
        schedule_binding();
      }
    });
    controller.phase_changed.connect([this](JobId job, JobPhase before, JobPhase after) {
      if (!records_creations) return;
      const std::string arrow{"->"};
      phases.push_back(std::to_string(engine.now().ns / 1'000'000'000) + "s " +
                       std::string{name_of(before)} + arrow + std::string{name_of(after)});
      static_cast<void>(job);
    });
  }

  void add(std::vector<JobSpec> requests) {
    controller.add_source(std::make_unique<ListedJobs>(std::move(requests)));
  }
  void run(Time end = Time::max()) {
    if (!std::exchange(is_started_, true)) controller.start();
    engine.run(end);
  }
  void fail(NodeId node) { presence.add(node, NodeReason::Broken); }
  void repair(NodeId node) {
    presence.remove(node, NodeReason::Broken);
    if (binds_) bind_all();
  }
  // The node fails and is repaired at `when`, before all other events of that instant.
  void fail_at(Time when, NodeId node) {
    engine.at(
        when, Label{"test.node_failed"},
        [this, node] {
          fail(node);
          repair(node);
        },
        Phase::Fault);
  }
  void bind_all() {
    std::erase_if(queue, [&](PodId pod) { return bind(pod); });
  }
  bool bind(PodId pod) {
    for (uint32_t n = 0; n < cluster.nodes(); ++n) {
      if (bind_to(pod, {n})) return true;
    }
    return false;
  }
  bool bind_to(PodId pod, NodeId node) {
    const int32_t wanted = jobs.spec(pod).gpus;
    GpuMask idle = cluster.idle_gpus(node);
    if (!cluster.up().contains(node) || std::popcount(idle) < wanted) return false;
    DeviceGrant grant{.gpus = 0, .milli_per_gpu = 1000};
    for (int32_t i = 0; i < wanted; ++i) {
      const auto lowest = static_cast<GpuMask>(idle & -idle);
      grant.gpus = static_cast<GpuMask>(grant.gpus | lowest);
      idle = static_cast<GpuMask>(idle & ~lowest);
    }
    jobs.pod(pod).node = node;
    jobs.pod(pod).grant = grant;
    cluster.take(node, jobs.request(pod), grant);
    controller.pod_bound(pod);
    return true;
  }
  std::vector<JobRow> job_rows() { return rows<JobRow>("/jobs"); }
  std::vector<PodRow> pod_rows() { return rows<PodRow>("/pods"); }
  std::vector<GangStartRow> gang_starts() { return rows<GangStartRow>("/events/gang_starts"); }
  std::vector<RecoveryRow> recoveries() { return rows<RecoveryRow>("/events/recoveries"); }

  Engine engine;
  RngStreams rng;
  MemoryRecorder recorder;

 private:
  Recorder& recorder_of(const Options& options) {
    if (options.records) return recorder;
    return nowhere_;
  }
  NullRecorder nowhere_;
  bool binds_;
  bool is_started_ = false;
  bool is_binding_ = false;

 public:
  ClusterState cluster;
  JobTable jobs;
  Storage storage;
  JobController controller;
  NodePresence presence{cluster, {}};
  bool records_creations = true;  // keeps `creations` and `phases`; off for millions of jobs
  std::vector<PodId> queue;       // pods without a node
  std::vector<std::vector<PodId>> creations;  // pods of each batch
  std::vector<std::string> phases;            // changes of phase, such as "12s running->hung"

 private:
  void schedule_binding() {
    if (!binds_ || is_binding_) return;
    is_binding_ = true;
    engine.after(
        {}, Label{"test.bind"},
        [this] {
          is_binding_ = false;
          bind_all();
        },
        Phase::Control);
  }
  template <class Row>
  std::vector<Row> rows(const char* path) {
    recorder.flush_all();
    return recorder.rows<Row>(path);
  }
};

}  // namespace orrery

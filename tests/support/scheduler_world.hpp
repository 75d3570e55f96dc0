// tests/support/scheduler_world.hpp -- the real scheduler on a small cluster, and whole scenarios
// run in memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/hardware/node_presence.hpp"
#include "models/run/simulation.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scheduling/cycle/scheduler.hpp"
#include "models/scheduling/feasibility/deadlock_log.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {

inline ProfileParams profile_of(ProfileBase base, std::vector<std::string> plugins = {}) {
  ProfileParams profile;
  profile.base = base;
  for (std::string& name : plugins) {
    PluginParams plugin;
    plugin.name = std::move(name);
    profile.plugins.push_back(plugin);
  }
  return profile;
}

// The profile with a scheduler that takes no simulated time, so that tests can compute times by
// hand.
inline ProfileParams without_cost(ProfileParams profile) {
  profile.cost = {.per_cycle = Duration{}, .per_node = Duration{}, .per_pod = Duration{}};
  return profile;
}

inline ClusterState gpu_nodes(const std::vector<int32_t>& gpus_of_nodes) {
  ClusterState cluster;
  for (size_t i = 0; i < gpus_of_nodes.size(); ++i) {
    NodeSpec spec;
    spec.name = "n";
    spec.name += std::to_string(i);  // GCC 12 warns of "n" + text
    spec.allocatable[Resource::Cpu] = 100'000;
    spec.allocatable[Resource::Memory] = int64_t{1} << 40;
    spec.allocatable[Resource::Gpu] = gpus_of_nodes[i] * kMilli;
    spec.allocatable[Resource::Pods] = 110;
    cluster.add_node(spec);
  }
  cluster.seal();
  return cluster;
}

class SchedulerWorld {
 public:
  explicit SchedulerWorld(const std::vector<int32_t>& gpus_of_nodes, const ProfileParams& profile,
                          const JobControllerParams& params = {})
      : rng{1},
        cluster{gpu_nodes(gpus_of_nodes)},
        controller{{engine, rng, recorder}, cluster, jobs, params},
        scheduler{{engine, rng, recorder}, cluster, jobs, controller, profile, true} {
    controller.connect(presence);
    scheduler.connect(presence);
  }

  void add(std::vector<JobSpec> requests) {
    controller.add_source(std::make_unique<ListedJobs>(std::move(requests)));
  }
  void run(Time end = Time::max()) {
    if (!std::exchange(is_started_, true)) controller.start();
    engine.run(end);
  }
  void at(Time when, std::function<void()> what) {
    engine.at(when, Label{"test.step"}, std::move(what), Phase::Fault);
  }
  void fail(NodeId node) { presence.add(node, NodeReason::Broken); }
  void repair(NodeId node) { presence.remove(node, NodeReason::Broken); }
  std::vector<AttemptRow> attempts() {
    recorder.flush_all();
    return recorder.rows<AttemptRow>("/events/attempts");
  }
  std::vector<JobRow> job_rows() {
    recorder.flush_all();
    return recorder.rows<JobRow>("/jobs");
  }

  Engine engine;
  RngStreams rng;
  MemoryRecorder recorder;
  ClusterState cluster;
  JobTable jobs;
  JobController controller;
  Scheduler scheduler;
  NodePresence presence{cluster, {}};

 private:
  bool is_started_ = false;
};

// A user's scenario, run to its end.
class ScenarioRun {
 public:
  explicit ScenarioRun(const std::string& yaml, const std::vector<std::string>& overrides = {},
                       const SimulationOptions& options = {.audit_every = 1}) {
    Diagnostics diagnostics;
    config::Document document = config::load_text(yaml, "test.yaml", diagnostics);
    for (const std::string& set : overrides) config::apply_override(document, set, diagnostics);
    const Scenario scenario = read_scenario(document, diagnostics);
    if (diagnostics.ok()) result = simulate(scenario, document, recorder, options, diagnostics);
    if (!diagnostics.ok()) ADD_FAILURE() << diagnostics.text();
  }
  std::vector<JobRow> jobs() { return recorder.rows<JobRow>("/jobs"); }
  std::vector<DeadlockRow> deadlocks() { return recorder.rows<DeadlockRow>("/events/deadlocks"); }
  std::vector<DeadlockMemberRow> members() {
    return recorder.rows<DeadlockMemberRow>("/events/deadlock_members");
  }

  MemoryRecorder recorder;
  SimulationResult result;
};

}  // namespace orrery

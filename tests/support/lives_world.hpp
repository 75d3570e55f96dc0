// tests/support/lives_world.hpp -- the state and classes that a JobController uses.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/storage/storage.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/pod_news.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/pods/pod_lives.hpp"
#include "models/workload/lifecycle/pods/replacements.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"
#include "models/workload/lifecycle/state/job_phases.hpp"
#include "models/workload/lifecycle/state/recovery_log.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "sim/record/recorder.hpp"
#include "tests/support/alike.hpp"

namespace orrery {

// State and helper classes for tests of single classes of models/workload/lifecycle. A test adds
// the class under test unless that class is a member here. There is no JobController and no
// scheduler: the test makes their calls.
class LivesWorld {
 public:
  struct Options {
    uint32_t nodes = 4;
    uint32_t gpus = 8;  // GPUs of each node
    JobControllerParams params = {};
    StorageParams storage = {};
  };
  explicit LivesWorld(const Options& options)
      : params{options.params},
        cluster{make_cluster(options.nodes, options.gpus)},
        phases{jobs, news},
        accounts{sim(), jobs, true},
        recoveries{sim(), news.recovered},
        storage{sim(), options.storage, options.nodes},
        pods{sim(), cluster, jobs, params, accounts, news},
        runs{sim(), jobs, params, accounts, phases, recoveries, news, &storage, cluster.nodes()},
        replacements{engine, jobs, params, accounts, pods.creation()} {
    news.phase_changed.connect([this](JobId, JobPhase before, JobPhase after) {
      const std::string arrow{"->"};
      moves.push_back(seconds() + std::string{name_of(before)} + arrow +
                      std::string{name_of(after)});
    });
  }
  LivesWorld(const LivesWorld&) = delete;
  LivesWorld& operator=(const LivesWorld&) = delete;

  Sim sim() { return {engine, rng, recorder}; }

  JobId admit(const JobSpec& spec) { return admitted(jobs.add(spec)); }
  JobId admit_counted(const JobSpec& spec) { return admitted(jobs.add_counted(spec)); }
  PodId pod(JobId job, uint32_t rank = 0) const { return {jobs.job(job).first_pod.index + rank}; }
  void create(JobId job) {
    pods.creation().want_all(job);
    go_to(engine.now());
  }
  // Acts as a scheduler: the pod gets the node's idle GPUs with the lowest numbers.
  void bind(PodId id, NodeId node) {
    DeviceGrant grant{.gpus = 0, .milli_per_gpu = 1000};
    GpuMask idle = cluster.idle_gpus(node);
    for (int32_t i = 0; i < jobs.spec(id).gpus; ++i) {
      const auto lowest = static_cast<GpuMask>(idle & -idle);
      grant.gpus = static_cast<GpuMask>(grant.gpus | lowest);
      idle = static_cast<GpuMask>(idle & ~lowest);
    }
    jobs.pod(id).node = node;
    jobs.pod(id).grant = grant;
    cluster.take(node, jobs.request(id), grant);
    pods.bound(id);
  }
  void go_to(Time when) {
    engine.run(when);
    if (engine.now() < when) engine.advance_to(when);
  }
  void go_to(Duration since_start) { go_to(Time{} + since_start); }
  // Records how each job ends, and then stops the engine, because no class here would release what
  // the job holds.
  void watch(Signal<JobId, const JobOver&>& over) {
    over.connect([this](JobId, const JobOver& how) {
      ends.push_back(seconds() + std::string{name_of(how.phase)} + " " +
                     std::string{name_of(how.cause)});
      engine.stop();
    });
  }
  template <class Row>
  std::vector<Row> rows(const char* path) {
    recorder.flush_all();
    return recorder.rows<Row>(path);
  }

  JobControllerParams params;
  Engine engine;
  RngStreams rng{1};
  MemoryRecorder recorder;
  ClusterState cluster;
  JobTable jobs;
  struct AllNews : JobNews, PodNews {};
  AllNews news;
  JobPhases phases;
  JobAccounts accounts;
  RecoveryLog recoveries;
  Storage storage;
  PodLives pods;
  TrainingRuns runs;
  Replacements replacements;
  std::vector<std::string> moves;  // changes of phase, such as "12s running->hung"
  std::vector<std::string> ends;   // ends of jobs, such as "12s failed error"

 private:
  JobId admitted(JobId id) {
    accounts.admitted(id);
    pods.admitted(id);
    runs.admitted(id);
    return id;
  }
  std::string seconds() const { return std::to_string(engine.now().ns / 1'000'000'000) + "s "; }
};

}  // namespace orrery

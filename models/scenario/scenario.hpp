// models/scenario/scenario.hpp -- the parameters of a whole run, a section for each model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/control_plane/control_plane_params.hpp"
#include "models/facts/fact.hpp"
#include "models/faults/fault_params.hpp"
#include "models/network/network_params.hpp"
#include "models/scenario/cluster_params.hpp"
#include "models/scenario/record_params.hpp"
#include "models/scheduling/policy_params.hpp"
#include "models/storage/storage_params.hpp"
#include "models/workload/workload_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct FieldTree;

struct ChangeParams {
  static constexpr std::string_view kDoc = "Another scheduler during the run.";

  Duration at = {};
  PolicyParams policy = {};

  template <class V>
  void fields(V& v) {
    v("at", at, "Time of the change, from the start of the run.", Required{},
      Range{1_ns, Duration::max()}, Example{"10d"}, IsInstant{});
    v("policy", policy,
      "The new `policy`. As after a restart of the scheduler with another configuration, bound "
      "pods stay, and all other pods are requeued. A change cannot set `job_queue` or "
      "`controllers`, and cannot set `driver` to counting.",
      Required{}, Example{"{base: strict_gang}"});
  }
};

struct RunParams {
  static constexpr std::string_view kDoc = "The run itself.";

  uint64_t seed = 1;
  bool permute_ties = false;
  std::optional<Duration> until = {};
  Duration stall_limit = 30_d;
  uint64_t futile_attempts = 100;
  bool compress_retries = true;
  std::vector<ChangeParams> changes = {};

  template <class V>
  void fields(V& v) {
    v("seed", seed,
      "Seed of all random streams. Runs of one scenario with the same seed have the same results.");
    v("permute_ties", permute_ties,
      "Jobs with equal submit times, from all sources, arrive in a random order instead of the "
      "order of the input. Runs with several seeds then show how much depends on this order.");
    v("until", until,
      "Simulated time at which the run ends. Absent: the run ends when every job is over.",
      Range{1_ns, Duration::max()});
    v("stall_limit", stall_limit,
      "Without `until`, the run ends as stalled once no job has arrived, started or ended for "
      "this time. A job that makes progress, or a job or node that is still to arrive, prevents "
      "this end.",
      Range{1_s, Duration::max()}, Source{"a deadlocked cluster would otherwise run for ever"},
      Heeded{!until, "the run ends at `until`"});
    v("futile_attempts", futile_attempts,
      "Without `until`, the run ends if only futile attempts are left: no job runs, no job will "
      "arrive and every node is up. It ends once the number of these attempts is this value times "
      "the number of pending pods. The count restarts when a pod is bound or created, or when the "
      "policy changes.",
      Range{uint64_t{1}, uint64_t{1'000'000'000}},
      Source{"gangs that wait in Permit may be retried without end, as upstream"});
    v("compress_retries", compress_retries,
      "Gangs that do not fit may wake one another for ever, at up to 3,000 scheduling attempts a "
      "simulated second. Once rounds of such attempts repeat exactly, Orrery simulates one round "
      "in place of many. Jobs, pods, timelines and the summary stay the same; "
      "/profile and the digest of the events differ. Every attempt is executed if this parameter "
      "is false, or if something observes single attempts: record.attempts, record.cardiogram, a "
      "control plane, an autoscaler, loaded plugins.");
    v("changes", changes, "Changes of the scheduler during the run, in order of time.");
  }
  void check(Checker& c) const;
};

struct Scenario {
  static constexpr std::string_view kDoc =
      "A scenario: a cluster, its workload, its faults and its policies.";

  std::string description = {};
  ClusterParams cluster = {};
  ControlPlaneParams control_plane = {};
  NetworkParams network = {};
  StorageParams storage = {};
  WorkloadParams workload = {};
  FaultParams faults = {};
  PolicyParams policy = {};
  RecordParams record = {};
  RunParams run = {};

  template <class V>
  void fields(V& v) {
    v("description", description, "The question that this scenario answers.");
    v("cluster", cluster, "Nodes and their hardware.", Required{});
    v("control_plane", control_plane,
      "The Kubernetes control plane, and the delays that it adds to pods.", Heeded{Fact::Pods});
    v("network", network, "The network between ranks.");
    v("storage", storage, "Stores of checkpoints and datasets.");
    v("workload", workload, "Jobs and their life cycle.", Required{});
    v("faults", faults, "Hardware that fails.");
    v("policy", policy, "The scheduler.");
    v("record", record, "What goes into the output file.");
    v("run", run, "Seed, end and execution of the run.");
  }
  void check(Checker& c) const;
};

// Reads the scenario and checks everything that is known before the cluster is built.
Scenario read_scenario(const config::Document& document, Diagnostics& diagnostics);

// Both functions call templates of sim/config. A scenario has some 1,500 fields, for which these
// templates compile slowly. So only scenario.cpp compiles them.
[[nodiscard]] FieldTree describe_scenario();
[[nodiscard]] std::string resolved_json(const Scenario& scenario);

}  // namespace orrery

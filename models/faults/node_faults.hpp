// models/faults/node_faults.hpp -- nodes that fail and are repaired.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/faults/fault_params.hpp"
#include "models/faults/logs/failure_log.hpp"
#include "models/faults/node_killer.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

enum class FaultKind : uint8_t { Random, Listed, Logged, Chaos };
constexpr std::array<std::string_view, 4> enum_names(FaultKind) {
  return {"random", "listed", "logged", "chaos"};
}

struct FaultRow {  // one fault of one node
  NodeId node;
  Time at;
  FaultKind kind = FaultKind::Random;
  FixedText<24> cause;
  Time repaired_at = Time{-1};
  int32_t jobs_hit = 0;
  double gpus_hit = 0;

  static void columns(auto&& c) {
    c("node", &FaultRow::node, "the node that failed");
    c("at", &FaultRow::at, "when it failed");
    c("kind", &FaultRow::kind,
      "drawn at random, listed in the scenario, from a failure log, or chaos");
    c("cause", &FaultRow::cause, "name of the kind of failure; 'list'; what the log says; 'chaos'");
    c("repaired_at", &FaultRow::repaired_at, "when it was repaired; -1: not in this run");
    c("jobs_hit", &FaultRow::jobs_hit, "jobs that lost pods; 0 if it was down already", "jobs");
    c("gpus_hit", &FaultRow::gpus_hit, "GPUs held by the pods lost", "GPU");
  }
};

// Each kind of failure strikes each node as a renewal process of its own: time to failure, repair,
// time to failure, ... drawn from one random stream per kind and node, whatever else happens, so
// two policies see the same faults. A node is up when nothing on it awaits repair: a fault that
// strikes a node already down is repaired in parallel, and the node returns with the last repair.
// Rows are written at the repair, or by finish(). If somebody boots nodes, one returns only when it
// has booted, and fails no less meanwhile.
class NodeFaults {
 public:
  struct Counters {
    uint64_t faults = 0;
    uint64_t nodes_failed = 0;  // of these, faults that took down a node that was up
    uint64_t nodes_back = 0;
  };

  // `params` must have passed FaultParams::check.
  NodeFaults(Sim sim, ClusterState& cluster, JobController& jobs, const JobTable& table,
             const FaultParams& params);
  NodeFaults(const NodeFaults&) = delete;
  NodeFaults& operator=(const NodeFaults&) = delete;

  // Before start(). The log's outages strike the nodes that `params` chooses. Returns what the user
  // should know of how the log and the cluster fit.
  std::vector<std::string> replay(FailureLog log, const FailureLogParams& params);
  void start();
  void finish();  // writes the rows of faults not yet repaired

  // Before start(). Nodes with nothing left to wait for are `node_repaired`; booted() makes them
  // up.
  void let_boot() { boots_ = true; }
  void booted(NodeId node);
  // A node that is not there until it is released; the cluster alone is told. Not a fault.
  void hold(NodeId node);
  void release(NodeId node);
  bool is_broken(NodeId held) const { return awaiting_repair_[held.index] > 1; }

  Signal<NodeId> node_repaired;  // it begins to boot
  Signal<NodeId> boot_broken;    // by a fault
  Signal<NodeId> node_struck;    // before anybody else is told
  Signal<NodeId> node_down;      // after the cluster and the job controller were told
  Signal<NodeId> node_up;        // after the cluster was told

  const Counters& counters() const { return counters_; }
  uint32_t nodes_down() const { return nodes_down_; }

 private:
  struct Process {  // a kind of failure on a node, a listed fault, or an outage of a log
    FaultKind kind = FaultKind::Random;
    Rng rng{0};           // of random failures
    uint32_t source = 0;  // index into params_.nodes, params_.list or replays_
    NodeId node = {};
    Duration length = {};  // of an outage of a log, and its cause there
    uint32_t cause = 0;
    bool is_failed = false;
    Time failed_at = {};
    int32_t jobs_hit = 0;
    int64_t gpu_milli_hit = 0;
  };
  struct Hit {  // a pod lost to the fault being handled
    JobId job;
    int64_t gpu_milli;
  };
  // Only the next outage of a log is scheduled; each takes a process for as long as it lasts.
  struct Replay {
    FailureLog log;
    RepairDistribution repair;
    Rng rng;
    std::vector<NodeId> nodes;  // that stand for the log's
    bool repeats = false;
    size_t next = 0;  // of log.outages
  };
  std::string_view cause_of(const Process& p) const;
  Duration repair_time(Process& p);
  void wait_for_outage(uint32_t replay);
  void play_outages(uint32_t replay);
  void strike(const Process& process);
  void wait_for_failure(uint32_t process);
  void fail(uint32_t process);
  void repair(uint32_t process);
  void take_down(Process& process);
  void write_row(const Process& process, Time repaired_at);

  Sim sim_;
  ClusterState& cluster_;
  JobController& jobs_;
  FaultParams params_;
  Counters counters_;
  std::vector<Process> processes_;
  std::vector<Replay> replays_;
  std::optional<NodeKiller> killer_;
  std::vector<uint32_t> free_;             // processes of outages that are over
  std::vector<uint32_t> awaiting_repair_;  // by node; one more if it is held
  bool boots_ = false;
  uint32_t nodes_down_ = 0;
  bool is_striking_ = false;  // pods removed now are hits
  std::vector<Hit> hits_;
  Channel<FaultRow> rows_;
};

}  // namespace orrery

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
#include "models/hardware/node_presence.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "sim/core/rng.hpp"
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
    c("at", &FaultRow::at, "when the node failed");
    c("kind", &FaultRow::kind,
      "source of the fault: random draw, list in the scenario, failure log, or faults.chaos");
    c("cause", &FaultRow::cause,
      "random: name of the kind of failure; listed: 'list'; logged: cause in the log; chaos: "
      "'chaos'");
    c("repaired_at", &FaultRow::repaired_at, "when this fault was repaired; -1: not in this run");
    c("jobs_hit", &FaultRow::jobs_hit, "jobs that lost pods; 0 if the node was down already",
      "jobs");
    c("gpus_hit", &FaultRow::gpus_hit, "GPUs that the lost pods held", "GPU");
  }
};

// For each kind of random failure, each node has a renewal process: time to failure, repair, time
// to failure, ... Each of these processes has a random stream of its own, so runs with different
// policies see the same faults. A fault on a node that is already down is repaired in parallel; the
// node has NodeReason::Broken until the last repair. Example: a fault at 10 h takes 4 h to repair,
// and another fault of the node at 12 h takes 1 h. The node is Broken from 10 to 14 h. Absent and
// booting nodes fail, too. Rows are written at the repair, or by finish().
class NodeFaults {
 public:
  struct Counters {
    uint64_t faults = 0;
    uint64_t nodes_failed = 0;  // faults that took down a node that was up
  };

  // `params` must have passed FaultParams::check.
  NodeFaults(Sim sim, const ClusterState& cluster, NodePresence& presence, PodNews& pods,
             const JobTable& jobs, const FaultParams& params);
  NodeFaults(const NodeFaults&) = delete;
  NodeFaults& operator=(const NodeFaults&) = delete;

  // Call this before start(). Outages of the log strike the nodes that params.node_selector
  // selects. Returns notes for the user: remarks on rows of the log, and a note if a node of the
  // log or a selected node has no counterpart.
  std::vector<std::string> replay(FailureLog log, const FailureLogParams& params);
  void start();
  void finish();  // writes the rows of faults not yet repaired

  const Counters& counters() const { return counters_; }

 private:
  struct Process {  // a random failure, a listed fault, an outage of a log or a chaos kill
    FaultKind kind = FaultKind::Random;
    Rng rng{0};           // used by random failures only
    uint32_t source = 0;  // index into params_.nodes, params_.list or replays_
    NodeId node = {};
    Duration length = {};  // downtime of a logged outage (kUnknown: drawn) or of a chaos kill
    uint32_t cause = 0;
    bool is_failed = false;
    Time failed_at = {};
    int32_t jobs_hit = 0;
    int64_t gpu_milli_hit = 0;
  };
  struct Hit {  // a pod that the current fault killed
    JobId job;
    int64_t gpu_milli;
  };
  // One replayed log. Only its next outage is scheduled. Each outage in progress has an entry in
  // processes_.
  struct Replay {
    FailureLog log;
    RepairDistribution repair;
    Rng rng;
    // Node i of the log is nodes[i]. With `repeats` it is also nodes[i + n], nodes[i + 2 * n], ...,
    // where n is the number of nodes of the log.
    std::vector<NodeId> nodes;
    bool repeats = false;
    size_t next = 0;  // index of the next outage in log.outages
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
  const ClusterState& cluster_;
  NodePresence& presence_;
  FaultParams params_;
  Counters counters_;
  std::vector<Process> processes_;
  std::vector<Replay> replays_;
  std::optional<NodeKiller> killer_;
  std::vector<uint32_t> free_;  // processes of finished outages and chaos kills, for reuse
  IdVector<NodeId, Time> broken_until_;
  bool is_striking_ = false;  // true while a fault strikes; pods removed meanwhile are its victims
  std::vector<Hit> hits_;
  Channel<FaultRow> rows_;
};

}  // namespace orrery

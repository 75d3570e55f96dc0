// models/faults/node_faults.hpp -- nodes that fail and are repaired.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/faults/fault_params.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/workload/job_controller.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

enum class FaultKind : uint8_t { Random, Listed };
constexpr std::array<std::string_view, 2> enum_names(FaultKind) { return {"random", "listed"}; }

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
    c("kind", &FaultRow::kind, "drawn at random, or listed in the scenario");
    c("cause", &FaultRow::cause, "name of the kind of failure; 'list'");
    c("repaired_at", &FaultRow::repaired_at, "when it was repaired; -1: not in this run");
    c("jobs_hit", &FaultRow::jobs_hit, "jobs that lost pods; 0 if it was down already", "jobs");
    c("gpus_hit", &FaultRow::gpus_hit, "GPUs held by the pods lost", "GPU");
  }
};

// Each kind of failure strikes each node as a renewal process of its own: time to failure, repair,
// time to failure, ... drawn from one random stream per kind and node, whatever else happens, so
// two policies see the same faults. A node is up when nothing on it awaits repair: a fault that
// strikes a node already down is repaired in parallel, and the node returns with the last repair.
// Rows are written at the repair, or by finish().
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

  void start();
  void finish();  // writes the rows of faults not yet repaired

  Signal<NodeId> node_down;  // after the cluster and the job controller were told
  Signal<NodeId> node_up;    // after the cluster was told

  const Counters& counters() const { return counters_; }
  uint32_t nodes_down() const { return nodes_down_; }

 private:
  struct Process {        // a kind of failure on a node, or a listed fault
    Rng rng{0};           // unused by a listed fault
    uint32_t source = 0;  // index into params_.nodes, or past it into params_.list
    NodeId node = {};
    bool is_failed = false;
    Time failed_at = {};
    int32_t jobs_hit = 0;
    int64_t gpu_milli_hit = 0;
  };
  struct Hit {  // a pod lost to the fault being handled
    JobId job;
    int64_t gpu_milli;
  };
  bool is_listed(const Process& p) const { return p.source >= params_.nodes.size(); }
  const ListedFaultParams& listed(const Process& p) const {
    return params_.list[p.source - params_.nodes.size()];
  }
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
  std::vector<uint16_t> awaiting_repair_;  // by node
  uint32_t nodes_down_ = 0;
  bool is_striking_ = false;  // pods removed now are hits
  std::vector<Hit> hits_;
  Channel<FaultRow> rows_;
};

}  // namespace orrery

// models/cluster/cluster.hpp -- builds, connects and owns every component.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/cluster/ground.hpp"
#include "models/control_plane/autoscaling/node_groups.hpp"
#include "models/control_plane/autoscaling/service_scaling.hpp"
#include "models/control_plane/control_plane.hpp"
#include "models/control_plane/nodes/nodes.hpp"
#include "models/control_plane/pod_delays.hpp"
#include "models/controllers/controllers.hpp"
#include "models/faults/link_faults.hpp"
#include "models/faults/node_faults.hpp"
#include "models/faults/rank_faults.hpp"
#include "models/hardware/node_presence.hpp"
#include "models/network/network.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scheduling/cycle/scheduler.hpp"
#include "models/scheduling/feasibility/deadlock_detector.hpp"
#include "models/scheduling/feasibility/too_large.hpp"
#include "models/scheduling/job_queue/job_queue.hpp"
#include "models/scheduling/packing_log.hpp"
#include "models/storage/storage.hpp"
#include "models/telemetry/cardiogram.hpp"
#include "models/telemetry/gpu_usage.hpp"
#include "models/telemetry/job_statistics.hpp"
#include "models/telemetry/network_usage.hpp"
#include "models/telemetry/node_usage.hpp"
#include "models/telemetry/storage_usage.hpp"
#include "models/telemetry/timeline.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/steps/few_servers.hpp"
#include "models/workload/steps/gang_steps.hpp"
#include "sim/config/node.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

class Cluster {
 public:
  // `scenario` must have passed read_scenario().
  // `ground` must have passed its check() and outlive the cluster.
  Cluster(Sim sim, const Scenario& scenario, Ground& ground);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // When a change of `run.changes` takes effect, this function is called with the index of the
  // change and returns the new profile. If the function is empty, the profile in `run.changes` is
  // used.
  using ProfileOfChange = std::function<PolicyParams(size_t change)>;
  void ask_at_changes(ProfileOfChange ask) { profile_of_change_ = std::move(ask); }

  // Opens the job sources and reads the failure logs; reports their errors.
  void check(const config::Document& document, Diagnostics& diagnostics);
  void start();
  // Writes the summary, and the rows of everything still open at the end, such as jobs and faults.
  void finish(Time end);
  void audit() const;  // checks the invariants

  bool is_over() const { return controller_.all_done(); }
  bool has_stalled() const { return has_stalled_; }
  bool is_futile() const { return is_futile_; }  // stalled, with only futile attempts left
  const std::optional<std::string>& source_error() const { return controller_.sources().error(); }
  const ClusterState& state() const { return ground_.state; }
  const JobTable& jobs() const { return ground_.jobs; }
  const JobController& controller() const { return controller_; }
  const Scheduler& scheduler() const { return scheduler_; }
  const JobQueue* job_queue() const { return job_queue_ ? &*job_queue_ : nullptr; }
  const NodeFaults& faults() const { return faults_; }
  // Notes on the input, such as what was left out of a trace, and warnings; one line each.
  std::vector<std::string> input_notes() const;
  // A warning that names remedies, if there were at least 10,000 scheduling attempts and over 100
  // for each placed pod.
  std::optional<std::string> retry_warning() const;
  const DeadlockDetector& deadlocks() const { return deadlocks_; }
  const TooLargeJobs& too_large() const { return too_large_; }

 private:
  static std::vector<Nodes::Joining> joining_of(const Scenario& scenario, const BuiltPools& built);
  static std::vector<NodeId> absent_at_start(const Scenario& scenario, const BuiltPools& built);
  void make_control_plane(const Scenario& scenario);
  void make_network(const Scenario& scenario);
  void make_controllers(const Scenario& scenario);
  void connect_news();
  void connect_samples();
  void phase_changed(JobId job, JobPhase before, JobPhase after);
  void compress_retries(const Scenario& scenario);
  void start_changes();
  void read_failure_logs(const config::Node& section, Diagnostics& diagnostics);
  void stop_when_done();
  void watch_for_stall(uint64_t progress_before);
  void stop_if_futile();
  uint64_t progress() const;
  bool is_work_ahead() const;

  Sim sim_;
  RunParams run_;
  ProfileOfChange profile_of_change_;
  std::vector<FailureLogParams> failure_logs_;
  std::vector<std::string> fault_notes_;
  Ground& ground_;
  NodePresence presence_;
  std::unique_ptr<Storage> storage_;
  std::optional<Network> network_;
  JobController controller_;
  std::optional<GangSteps> steps_;
  std::vector<std::unique_ptr<JobSource>> sources_;
  std::optional<Fragmentation> fragmentation_;
  Scheduler scheduler_;
  std::optional<JobQueue> job_queue_;
  NodeFaults faults_;
  RankFaults rank_faults_;
  std::optional<LinkFaults> link_faults_;
  GpuUsage usage_;
  NodeUsage node_usage_;
  std::optional<NetworkUsage> network_usage_;
  std::optional<StorageUsage> storage_usage_;
  std::optional<ControlPlane> control_plane_;
  std::optional<PodDelays> pod_delays_;
  std::optional<Nodes> nodes_;  // empty if control_plane.level is none
  std::optional<NodeGroups> node_groups_;
  std::optional<ServiceScaling> services_;
  std::optional<Controllers> controllers_;
  Timeline timeline_;
  JobStatistics statistics_;
  DeadlockDetector deadlocks_;
  TooLargeJobs too_large_;
  FewServers few_servers_;
  std::optional<PackingLog> packing_;
  std::optional<Cardiogram> cardiogram_;
  bool has_stalled_ = false, is_futile_ = false;
};

}  // namespace orrery

// tests/support/gang_world.hpp -- gangs placed by hand, with a deadlock detector.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/feasibility/deadlock_detector.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/engine/engine.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// Gangs, nodes and a DeadlockDetector, without a scheduler. Calls act at the present time of the
// engine. wait() lets the detector run, then advances the time.
class GangWorld {
 public:
  explicit GangWorld(const std::vector<int32_t>& gpus_of_nodes, DeadlockParams params = {})
      : rng{1}, cluster{make_cluster(gpus_of_nodes)} {
    detector.emplace(Sim{engine, rng, recorder}, cluster, jobs, params);
  }

  JobId add(int32_t pods, int32_t gpus, int32_t min_available = 0) {
    return add(role_of(pods, gpus), min_available);
  }
  JobId add(const RoleSpec& role, int32_t min_available = 0) {
    return add({{.roles = {role}, .min_available = min_available}});
  }
  static RoleSpec role_of(int32_t pods, int32_t gpus) {
    RoleSpec role;
    role.spec.gpus = gpus;
    role.pods = pods;
    return role;
  }
  JobId add(std::vector<GangSpec> gangs) {
    JobSpec request;
    request.kind = JobKind::MpiGang;
    request.gangs = std::move(gangs);
    const JobId job = jobs.add(request);
    JobTable::for_each_pod(jobs.job(job).first_pod, jobs.job(job).pods,
                           [this](PodId pod) { jobs.pod(pod).state = PodState::Pending; });
    return job;
  }
  PodId pod(JobId job, uint32_t rank) const { return {jobs.job(job).first_pod.index + rank}; }
  void assign(JobId job, uint32_t rank, uint32_t node) {
    detector->pod_assigned(pod(job, rank), {node});
  }
  void give_up(JobId job, uint32_t rank) { detector->pod_unassigned(pod(job, rank)); }
  void set_phase(JobId job, JobPhase phase) {
    jobs.job(job).phase = phase;
    detector->phase_changed(job);
  }
  void remove(JobId job) {  // takes the nodes from its pods first
    JobTable::for_each_pod(jobs.job(job).first_pod, jobs.job(job).pods, [this](PodId pod) {
      detector->pod_unassigned(pod);
      jobs.pod(pod).state = PodState::Absent;
    });
    set_phase(job, JobPhase::Failed);
    jobs.remove(job);
    jobs.recycle(job);
  }
  void wait(Duration span) {
    engine.at(engine.now() + span, Label{"test.tick"}, [] {});
    engine.run(engine.now() + span);
  }
  std::vector<DeadlockRow> deadlocks() { return rows<DeadlockRow>("/events/deadlocks"); }
  std::vector<DeadlockMemberRow> members() {
    return rows<DeadlockMemberRow>("/events/deadlock_members");
  }

  Engine engine;
  RngStreams rng;
  MemoryRecorder recorder;
  ClusterState cluster;
  JobTable jobs;
  std::optional<DeadlockDetector> detector;

 private:
  static ClusterState make_cluster(const std::vector<int32_t>& gpus_of_nodes) {
    ClusterState cluster;
    for (size_t i = 0; i < gpus_of_nodes.size(); ++i) {
      NodeSpec spec;
      spec.name = "n";
      spec.name += std::to_string(i);
      spec.allocatable[Resource::Gpu] = gpus_of_nodes[i] * kMilli;
      spec.allocatable[Resource::Cpu] = 100'000;
      spec.allocatable[Resource::Memory] = int64_t{1} << 40;
      spec.allocatable[Resource::Pods] = 110;
      spec.labels = {{"half", i % 2 == 0 ? "even" : "odd"}};
      cluster.add_node(spec);
    }
    cluster.seal();
    return cluster;
  }
  template <class Row>
  std::vector<Row> rows(const char* path) {
    recorder.flush_all();
    return recorder.rows<Row>(path);
  }
};

}  // namespace orrery

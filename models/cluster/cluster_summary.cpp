// models/cluster/cluster_summary.cpp -- writes the rows still open at the end of a run, the
// summary, and notes on the input.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/cluster/cluster.hpp"

namespace orrery {
void Cluster::finish(Time end) {
  controller_.finish(end);
  faults_.finish();
  if (controllers_) controllers_->finish();
  if (services_) services_->finish();
  if (nodes_) nodes_->finish();
  if (link_faults_) link_faults_->finish();
  timeline_.finish(end);
  if (network_usage_) network_usage_->finish(end);
  if (cardiogram_) cardiogram_->finish(end);
  if (packing_) packing_->finish();
  node_usage_.finish(end);
  deadlocks_.finish(end);
  Recorder& r = sim_.recorder;
  const auto count = [&](std::string_view name, uint64_t n, std::string_view unit,
                         std::string_view doc) {
    r.add_summary(name, static_cast<int64_t>(n), unit, doc);
  };
  const auto& c = controller_.counters();
  count("nodes", ground_.state.nodes(), "nodes", "nodes of the cluster");
  count("gpus", static_cast<uint64_t>(ground_.state.gpus_total()), "GPU", "GPUs of the cluster");
  count("jobs_submitted", c.submitted, "jobs", "jobs that arrived");
  count("jobs_completed", c.completed, "jobs", "jobs that completed");
  count("jobs_failed", c.failed, "jobs", "jobs that failed");
  count("jobs_cancelled", c.cancelled, "jobs", "jobs that their users cancelled");
  count("pods_failed", c.pods_failed, "pods", "pods that ended by themselves, with an error");
  count("jobs_unfinished", controller_.jobs_unfinished(), "jobs",
        "jobs that had not ended at the end of the run");
  count("restarts", c.restarts, "", "restarts after failures, of gangs or of independent pods");
  count("membership_changes", c.membership_changes, "",
        "times a gang restarted to include late members");
  statistics_.write_priorities(controller_);
  statistics_.add_summary(r);
  usage_.add_summary(r, end, controller_.gpu_time());
  const auto& f = faults_.counters();
  count("faults", f.faults, "", "faults of nodes");
  count("nodes_failed", f.nodes_failed, "", "times that a node went down");
  count("pods_lost", c.pods_lost, "pods", "pods on nodes that went down");
  count("pods_preempted", c.pods_preempted, "pods", "pods preempted for a pod of higher priority");
  r.add_summary("lost_preempted_gpu_s", GpuTime::seconds(c.gpu_lost_preempted), "GPU s",
                "compute lost to preemption, a part of gpu_s_lost");
  if (controllers_) controllers_->add_summary(r);
  if (network_) {
    count("link_faults", link_faults_->faults(), "", "faults of cables and switches");
    count("gangs_gave_up", steps_->counters().gave_up, "",
          "aborts of gangs whose exchange stayed blocked until NCCL's retry timeout");
    count("gangs_rerouted", steps_->counters().rerouted, "",
          "times that a running gang got other routes, after a change of links or of routing");
    if (const SharedLinks* const links = steps_->shared_links()) {
      count("steps_rehearsed", links->steps_rehearsed(), "",
            "training steps simulated to find the rates of small groups of gangs that share links");
      count("rates_expected", links->rates_expected(), "",
            "estimates of a gang's rate, made without simulating steps (see workload.steps)");
    }
  }
  if (control_plane_) control_plane_->add_summary(r);
  if (nodes_) nodes_->add_summary(r);
  if (node_groups_) node_groups_->add_summary(r);
  if (services_) services_->add_summary(r);
  deadlocks_.add_summary(r, end);
  count("jobs_too_large", too_large_.jobs(), "jobs",
        "jobs with a gang or pod that could not start even if the cluster were empty");
  const auto& s = scheduler_.counters();
  count("scheduling_attempts", s.attempts, "", "scheduling cycles, of pods or gangs");
  count("pods_scheduled", s.pods_scheduled, "pods", "pods bound to a node");
  count("permit_timeouts", s.permit_timeouts, "",
        "times that a pod timed out while it waited in Permit");
  if (job_queue_) job_queue_->add_summary(r, end);
  r.add_summary("scheduler_busy", s.busy.seconds(), "s", "simulated time of all scheduling cycles");
}

std::vector<std::string> Cluster::input_notes() const {
  std::vector<std::string> notes = controller_.sources().notes();
  notes.insert(notes.end(), fault_notes_.begin(), fault_notes_.end());
  std::ranges::copy(rank_faults_.notes(), std::back_inserter(notes));
  if (cardiogram_) std::ranges::copy(cardiogram_->notes(), std::back_inserter(notes));
  if (job_queue_) std::ranges::copy(job_queue_->notes(), std::back_inserter(notes));
  if (controllers_) std::ranges::copy(controllers_->notes(), std::back_inserter(notes));
  if (control_plane_) std::ranges::copy(control_plane_->notes(), std::back_inserter(notes));
  if (auto note = few_servers_.note()) notes.push_back(*std::move(note));
  if (auto warning = retry_warning()) notes.push_back(*std::move(warning));
  return notes;
}

std::optional<std::string> Cluster::retry_warning() const {
  constexpr uint64_t kPerPod = 100, kLeast = 10'000;
  const Scheduler::Counters& scheduler = scheduler_.counters();
  const uint64_t pods = std::max<uint64_t>(scheduler.pods_scheduled, 1);
  if (scheduler.attempts < kLeast || scheduler.attempts <= kPerPod * pods) return std::nullopt;
  return "policy: " + std::to_string(scheduler.attempts) + " scheduling attempts placed " +
         std::to_string(scheduler.pods_scheduled) +
         " pods: what does not fit is tried again and again. The bases strict_gang and native_gang "
         "place a gang as a whole; podGroupBackoffSeconds of Coscheduling pauses a rejected gang; "
         "deletedPodHint: Fits of NodeResourcesFit wakes only pods that fit";
}

}  // namespace orrery

// models/workload/lifecycle/pods/replacements.hpp -- when lost pods are detected and recreated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/workload/job/job_table.hpp"
#include "models/workload/job/pod_news.hpp"
#include "models/workload/lifecycle/pods/pod_creation.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

struct LostPod {
  DeadPod life;
  bool is_replaced = false;  // the pod alone is replaced; otherwise its gang comes back as a whole
  bool fails_job = false;    // the job has no restarts left
};

// Decides how soon the loss of a pod is detected, and how long the job controller then waits before
// it replaces the pod. Records the pods that died with their nodes, until the API deletes them. The
// API's view of these pods is in control_plane/nodes/dead_pods.hpp.
class Replacements {
 public:
  Replacements(Engine& engine, JobTable& jobs, const JobControllerParams& params,
               const JobAccounts& accounts, PodCreation& creation);

  // Call if an API will report the deletion of pods of dead nodes.
  void expect_deletions() { expects_deletions_ = true; }
  // Time until a job itself detects a dead node. Duration::max(): the job learns of the dead node
  // only when the node's pods are deleted.
  Duration node_detection() const;
  Duration exit_detection() const { return params_.failure_detection.value_or(kExplicitFailure); }
  // How long ranks wait for a rank on a dead node.
  Duration gang_patience() const;
  Duration hang_timeout() const { return params_.hang_timeout.value_or(Duration::max()); }
  // The back-off delay before a restart. It doubles with each restart up to restart_delay_max, and
  // is constant if restart_delay_max is absent.
  Duration delay(JobId job) const;

  void lost(const LostPod& pod);
  // Call when the API has deleted the dead pod. Returns what lost() recorded about this life of the
  // pod. Returns nullopt if lost() recorded nothing, if the pod was already replaced, or if the
  // pod's job is over.
  std::optional<LostPod> deleted(const DeadPod& life);
  void replace_after(Duration delay, const DeadPod& life);  // `life` is the life that ended

 private:
  void replace(const DeadPod& life);

  Engine& engine_;
  JobTable& jobs_;
  JobControllerParams params_;
  const JobAccounts& accounts_;
  PodCreation& creation_;
  std::map<Time, std::vector<DeadPod>> due_;
  bool expects_deletions_ = false;
  std::map<PodId, LostPod> lost_;  // the last life of each pod, until the API deletes it
};

}  // namespace orrery

// models/workload/lifecycle/pods/replacements.hpp -- lost pods that are to be created again.
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
  bool is_replaced = false;  // alone; else its gang comes back as a whole
  bool fails_job = false;    // that has no restarts left
};

// Who notices that pods are lost, how soon, and how long their controller waits then. Holds the
// ledger of the truth about pods that died with their nodes: which died, and what follows. What the
// API still believes of them is in control_plane/nodes/dead_pods.hpp.
class Replacements {
 public:
  Replacements(Engine& engine, JobTable& jobs, const JobControllerParams& params,
               const JobAccounts& accounts, PodCreation& creation);

  // Pods have an API, which tells when those of dead nodes are deleted.
  void expect_deletions() { expects_deletions_ = true; }
  // Time until a job itself detects a dead node; max: it waits for deletions.
  Duration node_detection() const;
  Duration exit_detection() const { return params_.failure_detection.value_or(kExplicitFailure); }
  // How long ranks wait for one on a node that died.
  Duration gang_patience() const;
  Duration hang_timeout() const { return params_.hang_timeout.value_or(Duration::max()); }
  // As the Job controller waits, longer after each failure.
  Duration delay(JobId job) const;

  void lost(const LostPod& pod);
  // That life is deleted. None: the pod was replaced meanwhile, or is gone with its job.
  std::optional<LostPod> deleted(const DeadPod& life);
  void replace_after(Duration delay, const DeadPod& life);  // that ended

 private:
  void replace(const DeadPod& life);

  Engine& engine_;
  JobTable& jobs_;
  JobControllerParams params_;
  const JobAccounts& accounts_;
  PodCreation& creation_;
  std::map<Time, std::vector<DeadPod>> due_;
  bool expects_deletions_ = false;
  std::map<PodId, LostPod> lost_;  // the last life of each, until it is deleted
};

}  // namespace orrery

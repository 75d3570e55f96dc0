// models/workload/lifecycle/pods/replacements.hpp -- lost pods that are to be created again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/pods/pod_creation.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

struct LostPod {
  PodId pod;
  uint64_t generation = 0;
  bool is_replaced = false;  // alone; else its gang comes back as a whole
  bool fails_job = false;    // that has no restarts left
  Time at = {};              // when
};

// Who notices that pods are lost, how soon, and how long their controller waits then.
class Replacements {
 public:
  Replacements(Engine& engine, JobTable& jobs, const JobControllerParams& params,
               const JobAccounts& accounts, PodCreation& creation);

  // Somebody watches nodes, and says when their dead pods are known to be gone.
  void expect_news_of_nodes(size_t nodes);
  bool hears_of_nodes() const { return !lost_on_.empty(); }
  // Time until a job itself detects a dead node; max: it waits for news of the node.
  Duration node_detection() const;
  Duration exit_detection() const { return params_.failure_detection.value_or(kExplicitFailure); }
  // How long ranks wait for one on a node that died.
  Duration gang_patience() const;
  Duration hang_timeout() const { return params_.hang_timeout.value_or(Duration::max()); }
  // As the Job controller waits, longer after each failure.
  Duration delay(JobId job) const;

  void lost(NodeId node, const LostPod& pod);
  // Those that the node lost until then, and that nobody replaced meanwhile.
  std::vector<LostPod> known_lost(NodeId node, Time lost_by);
  void replace_after(Duration delay, const LostPod& pod);

 private:
  void replace(const LostPod& pod);

  Engine& engine_;
  JobTable& jobs_;
  JobControllerParams params_;
  const JobAccounts& accounts_;
  PodCreation& creation_;
  std::map<Time, std::vector<LostPod>> due_;
  IdVector<NodeId, std::vector<LostPod>> lost_on_;  // empty: nobody watches
};

}  // namespace orrery

// models/workload/sources/explicit_gang_params.hpp -- gangs and roles of a job in a scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/workload/job/job_spec.hpp"
#include "models/workload/job/pod_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct ExplicitRoleParams {
  static constexpr std::string_view kDoc =
      "Equal pods of a job: workers, a launcher, parameter servers, an evaluator.";

  std::string name = {};
  int32_t pods = 1;
  int32_t min_available = 0;
  PodParams pod = {};
  std::optional<WorkloadKind> controller = {};
  bool takes_part = true;
  bool exits = true;
  RoleSuccess success = RoleSuccess::Counts;
  RoleFailure failure = RoleFailure::FailsJob;
  std::optional<RestartPolicy> restart = {};
  std::optional<int32_t> backoff_limit = {};
  bool saves = true;
  CleanUp clean_up = CleanUp::Running;
  std::optional<std::vector<DrawnEndingParams>> endings = {};

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the role.");
    v("pods", pods, "Number of pods.", Range{1, 1'000'000}, Unit{"pods"});
    v("min_available", min_available,
      "In a gang: number of pods of this role that must be up before the job can run. These "
      "pods also count towards the gang's min_available. 0: the role has no minimum of its own. In "
      "Volcano, a missing minimum means all pods of the role. Volcano ignores the roles' minimums "
      "if their sum is more than the gang's minimum.",
      Range{0, 1'000'000}, Unit{"pods"}, Source{"only the gang's min_available counts"},
      Heeded{Fact::Pods}, Heeded{Fact::Gangs, min_available != 0});
    v("pod", pod, "Requests of each pod of the role.");
    v("controller", controller,
      "The controller that creates the role's pods; absent: the job's controller.");
    v("takes_part", takes_part,
      "For gangs. true: the pods are ranks of the communicator. false: the pods run beside the "
      "ranks until the job is over. If one of these pods is lost, only that pod is recreated.",
      Heeded{Fact::Gangs, !takes_part});
    v("exits", exits,
      "For jobs of `kind: pods`. false: the pods run until the job is over, like parameter "
      "servers.",
      Heeded{Fact::IndependentPods, !exits});
    v("success", success,
      "For jobs of `kind: pods`. decides: the job completes once all pods of this role have "
      "succeeded. counts: if no role decides, the job completes once all pods of the roles that "
      "count have succeeded. ignored: the job does not wait for this role.",
      Heeded{Fact::IndependentPods, success != RoleSuccess::Counts});
    v("failure", failure,
      "What happens when a pod has failed and is not restarted. fails_job: the job fails; ignored: "
      "the job continues.");
    v("restart", restart,
      "Whether pods that ended by themselves are restarted. exit_code: only after exit codes 130, "
      "137, 138 and 143. Pods lost with their node are always restarted. Absent: as in training.");
    v("backoff_limit", backoff_limit,
      "Maximum number of restarts of the role's pods after failures; absent: as in training.",
      Range{0, 1'000'000});
    v("saves", saves, "Whether the role's pods write checkpoints.");
    v("clean_up", clean_up,
      "running: pods that still run when the job is over are deleted; none: they stay, and hold "
      "their GPUs.",
      Source{"cleanPodPolicy of Kubeflow and KubeDL"});
    v("endings", endings,
      "Ways in which the role's pods end by themselves; absent: as in training.");
  }
  template <class C>
  void check(C& c) const {
    if (min_available > pods) c.error("min_available", "must not be more than the role's pods");
  }
  RoleSpec spec(int32_t priority) const;  // without the restarts and endings that `training` sets
  void override_ends(RoleSpec& role) const;
  void check_kind(Checker& c, const std::string& at, bool is_gang) const;
};

struct ExplicitGangParams {
  static constexpr std::string_view kDoc = "Pods that a scheduler may have to place together.";

  int32_t min_available = 0;
  std::vector<ExplicitRoleParams> roles = {};

  template <class V>
  void fields(V& v) {
    v("min_available", min_available,
      "Number of pods that must be up before the job can run; 0: all. Once they are up, the job "
      "waits up to workload.controller.last_call for the other pods.",
      Range{0, 1'000'000}, Unit{"pods"}, Heeded{Fact::Pods});
    v("roles", roles, "The gang's pods, role by role.", Required{});
  }
  template <class C>
  void check(C& c) const {
    int64_t pods = 0;
    for (const ExplicitRoleParams& role : roles) pods += role.pods;
    if (roles.empty()) c.error("roles", "needs at least one role");
    if (!roles.empty() && min_available > pods) {
      c.error("min_available", "must not be more than the pods of all roles");
    }
  }
  // Checks the min_available of the gang against those of its roles.
  void check_minimums(Checker& c, const std::string& at) const;
};

}  // namespace orrery

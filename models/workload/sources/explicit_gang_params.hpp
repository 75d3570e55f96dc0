// models/workload/sources/explicit_gang_params.hpp -- the gangs and roles of a job that is written
// out.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/workload/job/pod_params.hpp"
#include "sim/config/options.hpp"

namespace orrery {

struct ExplicitRoleParams {
  static constexpr std::string_view kDoc = "Alike pods of a gang.";

  int32_t pods = 1;
  PodParams pod = {};

  template <class V>
  void fields(V& v) {
    v("pods", pods, "How many.", Range{1, 1'000'000}, Unit{"pods"});
    v("pod", pod, "What each of them asks for.");
  }
};

struct ExplicitGangParams {
  static constexpr std::string_view kDoc = "Pods that a scheduler may have to place together.";

  int32_t min_available = 0;
  std::vector<ExplicitRoleParams> roles = {};

  template <class V>
  void fields(V& v) {
    v("min_available", min_available,
      "Pods that must be up before the job starts; 0: all. The others have "
      "workload.controller.last_call for that.",
      Range{0, 1'000'000}, Unit{"pods"});
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
};

}  // namespace orrery

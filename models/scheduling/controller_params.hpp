// models/scheduling/controller_params.hpp -- entries of policy.controllers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"

namespace orrery {

struct ControllerParams {
  static constexpr std::string_view kDoc =
      "A policy with a clock: it checks the cluster periodically, and acts.";
  std::string name;
  Duration period = 10_s;
  RawParams args;

  template <class V>
  void fields(V& v) {
    v("name", name, "Name of the policy; see `orrery describe`.", Required{},
      Example{"AvoidBrokenLinks"});
    v("period", period, "Time between two checks; the first check is one period after the start.",
      Range{100_ms, 240_h}, Source{"the scan interval of cluster-autoscaler"});
    v("args", args, "Arguments of the policy.");
  }
};

// Reports unknown names, policies that are no controllers, and wrong arguments.
void check_controllers(const std::vector<ControllerParams>& controllers, const std::string& path,
                       const config::Node& node, Diagnostics& diagnostics);

}  // namespace orrery

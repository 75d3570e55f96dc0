#include "models/control_plane/services/services_params.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace orrery {

void ServiceGroupParams::check(Checker& c) const {
  constexpr size_t kNameMax = 32;
  if (name.empty()) c.error("name", "must not be empty");
  if (name.size() > kNameMax) c.error("name", "must not be longer than 32 characters");
  if (members == ServiceMembers::Nodes && !team.empty()) {
    c.idle("team", "has no effect with members: nodes");
  }
}

void ServicesParams::check(Checker& c) const {
  if (groups.empty()) {
    for (const std::string_view section : {"endpoints", "watchers", "fan_out"}) {
      if (c.is_given(section)) c.idle(section, "has no effect without `groups`");
    }
    return;
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (seen.insert(groups[i].name).second) continue;
    c.error(
        "groups[" + std::to_string(i) + "].name",
        "two groups are called " + in_quotes(groups[i].name) + ": /timeline/watch could not tell");
  }
  if (watchers.is_nobody()) {
    if (c.is_given("fan_out")) c.idle("fan_out", "has no effect: nobody watches");
  } else if (c.is_given("fan_out.has_headless_filter")) {
    const bool has_headless = std::ranges::any_of(groups, &ServiceGroupParams::is_headless);
    if (!watchers.kube_proxies) {
      c.idle("fan_out.has_headless_filter", "has no effect without kube-proxies");
    } else if (!has_headless) {
      c.idle("fan_out.has_headless_filter", "has no effect: no service is headless");
    }
  }
}

}  // namespace orrery

#include "models/control_plane/autoscaling/node_group_params.hpp"

#include <algorithm>
#include <variant>

#include "sim/config/quantity.hpp"

namespace orrery {
namespace {

// The shortest duration that can be drawn.
Duration shortest(const FixedDuration& d) { return d.value; }
Duration shortest(const UniformDuration& d) { return d.low; }
Duration shortest(const DiscreteDuration& d) {
  return d.values.empty() ? Duration{} : std::ranges::min(d.values);
}
template <class D>
Duration shortest(const D&) {
  return {};
}

}  // namespace

void NodeGroupParams::check(Checker& c) const {
  if (nodes_max && nodes_min > *nodes_max) c.error("nodes_min", "must not be above nodes_max");
  if (at_start() < nodes_min) c.error("nodes_at_start", "must not be below nodes_min");
  if (nodes_max && at_start() > *nodes_max) {
    c.error("nodes_at_start", "must not be above nodes_max");
  }
}

void NodeGroupsParams::check(Checker& c) const {
  if (groups.empty()) c.error("groups", "must not be empty: there is nothing to scale");
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string at = "groups[" + std::to_string(i) + "].";
    const Duration least =
        std::visit([](const auto& d) { return shortest(d); }, groups[i].provisioning_time());
    if (least >= provision_time_max) {
      c.error(at + "provisioning", "takes at least " + format_quantity(least) +
                                       ": all nodes would be given up after provision_time_max, " +
                                       format_quantity(provision_time_max));
    }
    for (size_t k = 0; k < i; ++k) {
      if (groups[i].pool != groups[k].pool) continue;
      c.error(at + "pool", "is the pool of groups[" + std::to_string(k) + "] already");
    }
  }
  if (backoff > backoff_max) c.error("backoff", "must not be longer than backoff_max");
}

}  // namespace orrery

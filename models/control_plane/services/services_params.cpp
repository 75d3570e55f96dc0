#include "models/control_plane/services/services_params.hpp"

#include <set>
#include <string>

namespace orrery {

void ServiceGroupParams::check(Checker& c) const {
  constexpr size_t kNameMax = 32;
  if (name.empty()) c.error("name", "must not be empty");
  if (name.size() > kNameMax) c.error("name", "must not be longer than 32 characters");
}

void ServicesParams::check(Checker& c) const {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (seen.insert(groups[i].name).second) continue;
    c.error("groups[" + std::to_string(i) + "].name",
            "two groups are called " + in_quotes(groups[i].name) +
                ": /timeline/watch could not tell them apart");
  }
}

}  // namespace orrery

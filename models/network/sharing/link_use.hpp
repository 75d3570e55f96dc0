// models/network/sharing/link_use.hpp -- how heavily an activity uses a link.
#pragma once

#include "sim/core/id.hpp"

namespace orrery {

// An activity of rate r loads the link with weight * r.
struct LinkUse {
  LinkId link;
  double weight = 1;
};

}  // namespace orrery

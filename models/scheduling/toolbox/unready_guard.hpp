// models/scheduling/toolbox/unready_guard.hpp -- limits that keep an autoscaler from deleting a
// whole cluster.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"

namespace orrery {

struct UnreadyGuardParams {
  static constexpr std::string_view kDoc =
      "If too many nodes are not ready, the autoscaler neither adds nor removes nodes.";
  double share_max = 0.45;
  int32_t ok_count = 3;

  template <class V>
  void fields(V& v) {
    v("share_max", share_max,
      "Largest share of not-ready nodes at which the autoscaler still acts; 1: it always acts.",
      Range{0.0, 1.0}, Unit{"share"}, Source{"cluster-autoscaler: --max-total-unready-percentage"});
    v("ok_count", ok_count, "The autoscaler always acts if at most this many nodes are not ready.",
      Range{0, 1'000'000}, Unit{"nodes"}, Source{"cluster-autoscaler: --ok-total-unready-count"});
  }
};

constexpr bool may_delete_unready(int64_t unready, int64_t nodes, const UnreadyGuardParams& p) {
  return unready <= p.ok_count ||
         static_cast<double>(unready) <= p.share_max * static_cast<double>(nodes);
}

}  // namespace orrery

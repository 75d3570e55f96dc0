// tests/support/plain_fat_tree.hpp -- routes in full fat trees of one radix, computed directly.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/sharing/max_min.hpp"

namespace orrery::test {

// Routes by D-mod-K: the up-ports are digits of the destination's number. There are `hosts` links
// of each kind, in the order host up, host down, leaf up, leaf down and, with three levels, pod up
// and pod down.
struct PlainFatTree {
  uint32_t half = 1;  // half of the radix: the hosts of a leaf, and the up-ports of a switch
  uint32_t hosts = 1;
  bool has_cores = false;

  static PlainFatTree two_levels(uint32_t radix) { return {radix / 2, radix * radix / 2, false}; }
  static PlainFatTree three_levels(uint32_t radix) {
    return {radix / 2, radix * radix * radix / 4, true};
  }
  uint32_t links() const { return hosts * (has_cores ? 6 : 4); }

  std::vector<LinkUse> route(uint32_t from, uint32_t to) const {
    const uint32_t leaf = from / half, leaf_to = to / half, port = to % half;
    std::vector<LinkUse> uses{link(0, from)};
    if (leaf != leaf_to) {
      uses.push_back(link(2, leaf * half + port));
      // With three levels, `half` leaves and as many middle switches form a pod.
      const uint32_t pod = leaf / half, pod_to = leaf_to / half, core = leaf_to % half;
      if (has_cores && pod != pod_to) {
        uses.push_back(link(4, (pod * half + port) * half + core));
        uses.push_back(link(5, (pod_to * half + port) * half + core));
      }
      uses.push_back(link(3, leaf_to * half + port));
    }
    uses.push_back(link(1, to));
    return uses;
  }

 private:
  LinkUse link(uint32_t kind, uint32_t index) const { return {.link = {kind * hosts + index}}; }
};

}  // namespace orrery::test

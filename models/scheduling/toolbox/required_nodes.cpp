#include "models/scheduling/toolbox/required_nodes.hpp"

#include <algorithm>

#include "models/scheduling/contract/eligible_nodes.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {
constexpr uint32_t kUnknown = UINT32_MAX;
}

const NodeSet& RequiredNodes::of(const ClusterState& cluster, SpecId id, const PodSpec& spec) {
  ORRERY_CHECK(!spec.required_terms.empty(), "without terms every node matches");
  if (id.index >= by_spec_.size()) by_spec_.resize(id.index + size_t{1}, kUnknown);
  uint32_t& slot = by_spec_[id.index];
  if (slot == kUnknown) {
    auto found = std::ranges::find(matches_, spec.required_terms, &Match::any_of);
    if (found == matches_.end()) {
      found = matches_.insert(matches_.end(),
                              {spec.required_terms, matching_nodes(cluster, spec.required_terms)});
    }
    slot = static_cast<uint32_t>(found - matches_.begin());
  }
  return matches_[slot].nodes;
}

}  // namespace orrery

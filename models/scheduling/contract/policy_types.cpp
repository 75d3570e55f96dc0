#include "models/scheduling/contract/policy_types.hpp"

#include <bit>

#include "sim/core/check.hpp"

namespace orrery {

NodeSet nodes_of(const GangDomain& domain, const ClusterState& cluster) {
  if (const NodeSet* const set = std::get_if<NodeSet>(&domain)) return *set;
  NodeSet nodes{cluster.nodes()};
  if (const NodeId* const node = std::get_if<NodeId>(&domain)) {
    nodes.insert(*node);
  } else {
    for (const NodeId n : cluster.in_leaf(std::get<InLeaf>(domain).leaf)) {
      if (cluster.up().contains(n)) nodes.insert(n);
    }
  }
  return nodes;
}

void Candidates::begin(Status why_not) {
  current_ = {.plugin = plugin_,
              .reason = why_not.reason,
              .is_unresolvable = why_not.code == Code::UnschedulableAndUnresolvable,
              .nodes = 0};
  if (wants_rejected_) before_ = nodes_;
}

void Candidates::count(NodeId n) {
  ++current_.nodes;
  if (wants_unresolvable_ && current_.is_unresolvable) unresolvable_.insert(n);
}

void Candidates::end() {
  if (current_.nodes == 0) return;
  rejections_.push_back(current_);
  if (!wants_rejected_) return;
  before_ -= nodes_;
  rejected_.push_back(before_);
}

void Candidates::keep(const NodeSet& allowed, Status why_not) {
  ORRERY_CHECK(allowed.universe() == nodes_.universe(), "a set of nodes of this cluster");
  begin(why_not);
  const auto words = nodes_.words();
  const auto allowed_words = allowed.words();
  uint32_t removed = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    removed += static_cast<uint32_t>(std::popcount(words[i] & ~allowed_words[i]));
  }
  if (removed == 0) return;
  if (wants_unresolvable_ && current_.is_unresolvable) {
    NodeSet gone = nodes_;
    gone -= allowed;
    unresolvable_ |= gone;
  }
  current_.nodes = removed;
  nodes_ &= allowed;
  end();
}

void Candidates::drop(const NodeSet& banned, Status why_not) {
  ORRERY_CHECK(banned.universe() == nodes_.universe(), "a set of nodes of this cluster");
  begin(why_not);
  const auto words = nodes_.words();
  const auto banned_words = banned.words();
  uint32_t removed = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    removed += static_cast<uint32_t>(std::popcount(words[i] & banned_words[i]));
  }
  if (removed == 0) return;
  if (wants_unresolvable_ && current_.is_unresolvable) {
    NodeSet gone = nodes_;
    gone &= banned;
    unresolvable_ |= gone;
  }
  current_.nodes = removed;
  nodes_ -= banned;
  end();
}

void Candidates::note(Status why_not, uint32_t nodes) {
  if (nodes == 0) return;
  begin(why_not);
  current_.nodes = nodes;
  current_.is_noted = true;
  end();
}

void Candidates::reset(const NodeSet& nodes) {
  nodes_ = nodes;
  rejections_.clear();
  rejected_.clear();
  if (wants_unresolvable_) unresolvable_ = NodeSet{nodes.universe()};
}

}  // namespace orrery

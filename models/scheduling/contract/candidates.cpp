#include "models/scheduling/contract/candidates.hpp"

#include <bit>

#include "sim/core/check.hpp"

namespace orrery {

void Candidates::begin(Status why_not) {
  current_.is_unresolvable = why_not.code == Code::UnschedulableAndUnresolvable;
  current_.nodes = 0;
  current_.is_noted = false;
  if (keeps_rejected_) before_ = nodes_;
}

void Candidates::count(NodeId n) {
  ++current_.nodes;
  if (keeps_unresolvable_ && current_.is_unresolvable) unresolvable_.insert(n);
}

void Candidates::end(Status why_not) {
  removed_ += current_.is_noted ? 0 : current_.nodes;
  if (current_.nodes == 0 || !keeps_reasons_) return;
  rejections_.push_back(current_);
  rejections_.back().reason = why_not.reason;
  if (!keeps_rejected_) return;
  before_ -= nodes_;
  rejected_.push_back(before_);
}

void Candidates::keep(const NodeSet& allowed, Status why_not) {
  ORRERY_CHECK(allowed.universe() == nodes_.universe(), "a set of nodes of this cluster");
  remove(allowed, ~uint64_t{0}, why_not);
}

void Candidates::drop(const NodeSet& banned, Status why_not) {
  ORRERY_CHECK(banned.universe() == nodes_.universe(), "a set of nodes of this cluster");
  remove(banned, 0, why_not);
}

// Removes the nodes in `set` if `flip` is 0. If all bits of `flip` are 1, removes the nodes that
// are not in `set`.
void Candidates::remove(const NodeSet& set, uint64_t flip, Status why_not) {
  const auto words = nodes_.words();
  const auto others = set.words();
  uint32_t count = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    count += static_cast<uint32_t>(std::popcount(words[i] & (others[i] ^ flip)));
  }
  if (count == 0) return;
  begin(why_not);
  current_.nodes = count;
  if (keeps_unresolvable_ && current_.is_unresolvable) {
    NodeSet gone = nodes_;
    if (flip == 0) {
      gone &= set;
    } else {
      gone -= set;
    }
    unresolvable_ |= gone;
  }
  if (flip == 0) {
    nodes_ -= set;
  } else {
    nodes_ &= set;
  }
  end(why_not);
}

void Candidates::note(Status why_not, uint32_t nodes) {
  if (nodes == 0) return;
  begin(why_not);
  current_.nodes = nodes;
  current_.is_noted = true;
  end(why_not);
}

void Candidates::reset(const NodeSet& nodes) {
  nodes_ = nodes;
  rejections_.clear();
  rejected_.clear();
  removed_ = 0;
  if (keeps_unresolvable_) unresolvable_ = NodeSet{nodes.universe()};
}

}  // namespace orrery

#include "models/scheduling/framework/score_index.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

void ScoreIndex::reset(size_t nodes, size_t scorers) {
  scorers_ = scorers;
  size_ = 0;
  is_usable_ = true;
  members_.clear();
  scores_.clear();
  class_of_.assign(nodes, kNone);
  table_.assign(2 * kClassesMax, kNone);
}

// The slot in table_ of the class with these scores, or the free slot where it would go.
size_t ScoreIndex::place_of(std::span<const int64_t> scores) const {
  uint64_t hash = 0;
  for (const int64_t score : scores) {
    hash = (hash ^ static_cast<uint64_t>(score)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  }
  size_t place = hash % table_.size();
  while (table_[place] != kNone && !std::ranges::equal(scores_of(table_[place]), scores)) {
    place = (place + 1) % table_.size();
  }
  return place;
}

void ScoreIndex::add_class(std::span<const int64_t> scores, NodeSet nodes, size_t count) {
  table_[place_of(scores)] = static_cast<uint16_t>(members_.size());
  scores_.insert(scores_.end(), scores.begin(), scores.end());
  members_.push_back({std::move(nodes), count});
}

void ScoreIndex::forget_empty() {
  const std::vector<Members> members = std::exchange(members_, {});
  const std::vector<int64_t> scores = std::exchange(scores_, {});
  table_.assign(table_.size(), kNone);
  for (size_t c = 0; c < members.size(); ++c) {
    if (members[c].count == 0) continue;
    members[c].nodes.for_each(
        [&](NodeId n) { class_of_[n.index] = static_cast<uint16_t>(members_.size()); });
    add_class(std::span{scores}.subspan(c * scorers_, scorers_), members[c].nodes,
              members[c].count);
  }
}

void ScoreIndex::insert(NodeId node, std::span<const int64_t> scores) {
  if (!is_usable_) return;
  ORRERY_CHECK(class_of_[node.index] == kNone, "a node is in one class");
  size_t place = place_of(scores);
  if (table_[place] == kNone) {
    if (members_.size() == kClassesMax) {
      ORRERY_MARK("scheduling.score_classes_dropped");
      forget_empty();
      is_usable_ = members_.size() <= kClassesMax / 2;
      if (!is_usable_) return;
    }
    add_class(scores, NodeSet{class_of_.size()}, 0);
    place = place_of(scores);
  }
  class_of_[node.index] = table_[place];
  Members& members = members_[table_[place]];
  members.nodes.insert(node);
  ++members.count;
  ++size_;
}

void ScoreIndex::erase(NodeId node) {
  if (!is_usable_ || class_of_[node.index] == kNone) return;
  Members& members = members_[std::exchange(class_of_[node.index], kNone)];
  members.nodes.erase(node);
  --members.count;
  --size_;
}

}  // namespace orrery

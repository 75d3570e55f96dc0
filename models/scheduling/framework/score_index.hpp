// models/scheduling/framework/score_index.hpp -- feasible nodes of a spec, grouped by equal scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/node_set.hpp"

namespace orrery {

// A large cluster has few kinds of nodes in few states, so thousands of nodes are evaluated as a
// few classes. Example: 5,000 equal nodes with 8, 4 or 2 free GPUs are three classes. Before
// the number of classes exceeds kClassesMax, the index drops its empty classes. If more than half
// of the classes remain, the index becomes unusable.
class ScoreIndex {
 public:
  void reset(size_t nodes, size_t scorers);
  void give_up() { is_usable_ = false; }  // makes the index unusable until the next reset
  void insert(NodeId node, std::span<const int64_t> scores);  // must not be in the index
  void erase(NodeId node);                                    // no effect if not in the index
  // Returns false before the first reset, after give_up(), or if there were too many classes.
  bool is_usable() const { return is_usable_; }

  size_t size() const { return size_; }               // number of nodes
  size_t classes() const { return members_.size(); }  // number of classes, empty ones included
  size_t count(size_t c) const { return members_[c].count; }
  const NodeSet& nodes(size_t c) const { return members_[c].nodes; }
  int64_t score(size_t c, size_t scorer) const { return scores_[c * scorers_ + scorer]; }
  size_t class_of(NodeId node) const { return class_of_[node.index]; }

 private:
  static constexpr size_t kClassesMax = 512;
  static constexpr uint16_t kNone = UINT16_MAX;
  struct Members {
    NodeSet nodes;
    size_t count = 0;
  };
  size_t place_of(std::span<const int64_t> scores) const;  // slot in table_
  std::span<const int64_t> scores_of(size_t c) const {
    return std::span{scores_}.subspan(c * scorers_, scorers_);
  }
  void forget_empty();
  void add_class(std::span<const int64_t> scores, NodeSet nodes, size_t count);

  size_t scorers_ = 0, size_ = 0;
  bool is_usable_ = false;
  std::vector<Members> members_;    // by class
  std::vector<int64_t> scores_;     // by class and scorer
  std::vector<uint16_t> class_of_;  // by node
  std::vector<uint16_t> table_;     // classes, hashed by their scores; open addressing
};

}  // namespace orrery

// models/scheduling/feasibility/changed_ids.hpp -- ids that changed, each listed once.
#pragma once

#include <utility>
#include <vector>

namespace orrery {

template <class Id>
class ChangedIds {
 public:
  void add(Id id) {
    if (id.index >= is_listed_.size()) is_listed_.resize(id.index + size_t{1});
    if (is_listed_[id.index]) return;
    is_listed_[id.index] = true;
    ids_.push_back(id);
  }
  // Returns the ids in the order of their first change, and empties the list.
  std::vector<Id> take() {
    for (const Id id : ids_) is_listed_[id.index] = false;
    return std::exchange(ids_, {});
  }

 private:
  std::vector<Id> ids_;
  std::vector<bool> is_listed_;  // by id
};

}  // namespace orrery

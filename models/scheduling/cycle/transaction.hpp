// models/scheduling/cycle/transaction.hpp -- places and evicts pods in the cluster state and in
// Placements, and undoes these changes for what-ifs.
#pragma once

#include <cstddef>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/placements.hpp"
#include "sim/core/check.hpp"

namespace orrery {

// Changes are made in place, so filters and scores see a what-if without a copy of the cluster.
// Changes within a Savepoint are also written to an undo log. Changes outside of any Savepoint are
// final. Example: pods A and B are placed within a Savepoint. When the Savepoint ends, B is
// removed, then A, and their GPUs are free again.
class Transaction {
 public:
  Transaction(ClusterState& cluster, Placements& placements, const SpecTable& specs)
      : cluster_{cluster}, placements_{placements}, specs_{specs} {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void place(const PodView& pod, NodeId node, DeviceGrant grant, Time since) {
    const NodeId home = placements_.of_gang(pod.gang).home;
    cluster_.take(node, specs_.request(pod.spec_id), grant);
    placements_.place(pod, node, grant, since);
    if (depth_ > 0) log_.push_back({pod, placements_.of(pod.id), home, true});
  }
  void evict(const PodView& pod) {
    const Placed placed = placements_.of(pod.id);
    const NodeId home = placements_.of_gang(pod.gang).home;
    placements_.remove(pod.id);
    cluster_.give_back(placed.node, specs_.request(pod.spec_id), placed.grant);
    if (depth_ > 0) log_.push_back({pod, placed, home, false});
  }

  // The destructor undoes all changes since the constructor, or since keep(). Savepoints may be
  // nested: the inner one ends first, and the outer one may still undo what the inner one kept.
  class Savepoint {
   public:
    explicit Savepoint(Transaction& transaction)
        : transaction_{transaction}, mark_{transaction.log_.size()}, depth_{++transaction.depth_} {}
    Savepoint(const Savepoint&) = delete;
    Savepoint& operator=(const Savepoint&) = delete;
    ~Savepoint() { end(); }

    void keep() {
      if (depth_ == 1) transaction_.log_.clear();
      mark_ = transaction_.log_.size();
    }
    // Ends the savepoint before its scope ends. All savepoints within this one must have ended.
    void end() {
      if (depth_ == 0) return;
      ORRERY_CHECK(depth_ == transaction_.depth_, "savepoints end in reverse order");
      transaction_.undo(mark_);
      --transaction_.depth_;
      depth_ = 0;
    }

   private:
    Transaction& transaction_;
    size_t mark_;
    size_t depth_;  // nesting depth, 1 for the outermost savepoint; 0: has ended
  };

 private:
  struct Change {
    PodView pod;
    Placed placed;
    NodeId home;  // home of the pod's gang before the change
    bool is_place;
  };
  void undo(size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) {
      const Change& last = log_.back();
      const ClusterState::Request& request = specs_.request(last.pod.spec_id);
      if (last.is_place) {
        placements_.remove(last.pod.id);
        cluster_.give_back(last.placed.node, request, last.placed.grant);
      } else {
        cluster_.take(last.placed.node, request, last.placed.grant);
        placements_.place(last.pod, last.placed.node, last.placed.grant, last.placed.since);
      }
      placements_.set_home(last.pod.gang, last.home);
    }
  }

  ClusterState& cluster_;
  Placements& placements_;
  const SpecTable& specs_;
  std::vector<Change> log_;
  size_t depth_ = 0;  // number of open savepoints
};

}  // namespace orrery

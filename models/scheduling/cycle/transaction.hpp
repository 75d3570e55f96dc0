// models/scheduling/cycle/transaction.hpp -- nested what-ifs on the cluster state: place, evict,
// roll
// back.
#pragma once

#include <cstddef>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "sim/core/check.hpp"

namespace orrery {

// Changes are made in place and remembered in an undo log, so that filters and scores see a
// what-if world without a copy of it. commit() makes everything since the last commit final.
class Transaction {
 public:
  using Point = size_t;

  explicit Transaction(ClusterState& cluster) : cluster_{cluster} {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Point mark() const { return log_.size(); }
  void place(NodeId node, const ClusterState::Request& request, DeviceGrant grant) {
    cluster_.take(node, request, grant);
    log_.push_back({node, grant, request, true});
  }
  void evict(NodeId node, const ClusterState::Request& request, DeviceGrant grant) {
    cluster_.give_back(node, request, grant);
    log_.push_back({node, grant, request, false});
  }
  void rollback(Point to) {
    ORRERY_CHECK(to <= log_.size(), "rolled back past a commit");
    while (log_.size() > to) {
      const Change& last = log_.back();
      if (last.is_place)
        cluster_.give_back(last.node, last.request, last.grant);
      else
        cluster_.take(last.node, last.request, last.grant);
      log_.pop_back();
    }
  }
  void commit() { log_.clear(); }

 private:
  struct Change {
    NodeId node;
    DeviceGrant grant;
    ClusterState::Request request;
    bool is_place = true;
  };
  ClusterState& cluster_;
  std::vector<Change> log_;
};

}  // namespace orrery

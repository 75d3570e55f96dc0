// models/scheduling/contract/cycle_state.hpp -- the state of one scheduling attempt.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/scheduling/contract/candidates.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

class Policy;

struct ORRERY_API CycleData {  // base of the data that a policy stores in a CycleState
  virtual ~CycleData() = default;
};

// Results of the PreFilters.
struct Narrowing {
  // The first three members are sets of plugins, one bit each.
  uint32_t not_run = 0;  // PreFilters that were not called, because an earlier one rejected the pod
  uint32_t skipped = 0;  // plugins whose PreFilter returned Skip
  uint32_t by = 0;       // plugins whose PreFilter removed nodes
  NodeSet nodes = {};    // the nodes that remain
};

// The range of nodes, in round-robin order, that an attempt searches.
struct Window {
  uint32_t start = 0, visited = 0;  // first node and number of nodes
  uint32_t count = 0;               // feasible nodes in the range
};

// Each attempt has its own CycleState, as in kube-scheduler. It is passed to the extension
// points from PreFilter to Permit. A policy stores here what its PreFilter computes for its Filter.
// Data members of the policy must not store anything about an attempt. The pods of a gang that is
// placed as a whole share one CycleState. They are placed one by one, so PreFilter replaces what it
// stored for the previous pod.
class ORRERY_API CycleState {
 public:
  CycleState(uint64_t attempt, RngStreams streams) : attempt_{attempt}, streams_{streams} {}
  CycleState(const CycleState&) = delete;
  CycleState& operator=(const CycleState&) = delete;

  // The object of type Data that `owner` stores here. The first call creates it. Data must derive
  // from CycleData.
  template <class Data>
  Data& of(const Policy& owner) {
    for (const Kept& kept : kept_) {
      if (kept.owner == &owner && kept.type == tag<Data>()) return static_cast<Data&>(*kept.data);
    }
    kept_.push_back({&owner, tag<Data>(), std::make_unique<Data>()});
    return static_cast<Data&>(*kept_.back().data);
  }
  // Like of(), but returns null if `owner` has not stored an object of type Data.
  template <class Data>
  const Data* find(const Policy& owner) const {
    for (const Kept& kept : kept_) {
      if (kept.owner == &owner && kept.type == tag<Data>()) {
        return static_cast<const Data*>(kept.data.get());
      }
    }
    return nullptr;
  }
  // Random numbers of this attempt. The same stream of the same attempt yields the same numbers,
  // whatever other attempts draw.
  Rng& rng(std::string_view stream) {
    for (auto& [name, rng] : drawn_) {
      if (name == stream) return rng;
    }
    return drawn_.emplace_back(std::string{stream}, streams_.stream(stream, attempt_)).second;
  }

  // ---- for the framework: results of the extension points so far
  Narrowing narrowing;
  Candidates candidates;
  Window window;
  bool kept_for_nominated = false;  // nodes were rejected to keep their room for nominated pods

 private:
  struct Kept {
    const Policy* owner;
    const void* type;
    std::unique_ptr<CycleData> data;
  };
  template <class Data>
  static const void* tag() {
    static const char kTag{};
    return &kTag;
  }

  uint64_t attempt_;
  RngStreams streams_;
  std::vector<Kept> kept_;
  // A list, so that references to the Rngs stay valid.
  std::list<std::pair<std::string, Rng>> drawn_;
};

struct Cycle {
  Time now;
  const ClusterState& cluster;
  const PodView& pod;
  CycleState& state;
};

}  // namespace orrery

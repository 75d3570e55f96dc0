// models/scheduling/contract/cycle_state.hpp -- what one scheduling attempt has found out so far.
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

struct ORRERY_API CycleData {  // base of what a policy keeps in a CycleState
  virtual ~CycleData() = default;
};

// What the PreFilters answered, and the nodes that they left.
struct Narrowing {
  // Bit sets of plugins.
  uint32_t not_run = 0;  // an earlier PreFilter rejected the pod: their Filters must not run
  uint32_t skipped = 0;  // answered Skip
  uint32_t by = 0;       // removed nodes
  NodeSet nodes = {};    // the nodes that remain
};

// The part of the circle of nodes that an attempt looks at.
struct Window {
  uint32_t start = 0, visited = 0;
  uint32_t count = 0;  // feasible nodes in it
};

// Created per attempt and passed through every point, as kube-scheduler's CycleState. A policy
// keeps here what its PreFilter found for its Filter; in its members it keeps nothing of an
// attempt. The members of a gang that is placed as a whole share one, and their PreFilters run one
// by one.
class ORRERY_API CycleState {
 public:
  CycleState(uint64_t attempt, RngStreams streams) : attempt_{attempt}, streams_{streams} {}
  CycleState(const CycleState&) = delete;
  CycleState& operator=(const CycleState&) = delete;

  // What `owner` keeps of this type; made at its first call. Data must derive from CycleData.
  template <class Data>
  Data& of(const Policy& owner) {
    for (const Kept& kept : kept_) {
      if (kept.owner == &owner && kept.type == tag<Data>()) return static_cast<Data&>(*kept.data);
    }
    kept_.push_back({&owner, tag<Data>(), std::make_unique<Data>()});
    return static_cast<Data&>(*kept_.back().data);
  }
  // Null: `owner` has kept nothing of this type.
  template <class Data>
  const Data* find(const Policy& owner) const {
    for (const Kept& kept : kept_) {
      if (kept.owner == &owner && kept.type == tag<Data>()) {
        return static_cast<const Data*>(kept.data.get());
      }
    }
    return nullptr;
  }
  // Numbers of this attempt: the same stream of the same attempt draws the same ones, whatever
  // other attempts draw in between.
  Rng& rng(std::string_view stream) {
    for (auto& [name, rng] : drawn_) {
      if (name == stream) return rng;
    }
    return drawn_.emplace_back(std::string{stream}, streams_.stream(stream, attempt_)).second;
  }

  // ---- the framework's: results of the points so far
  Narrowing narrowing;
  Candidates candidates;
  Window window;
  bool kept_for_nominated = false;  // some node has no room beside nominated pods

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
  std::list<std::pair<std::string, Rng>> drawn_;  // they stay where they are
};

struct Cycle {
  Time now;
  const ClusterState& cluster;
  const PodView& pod;
  CycleState& state;
};

}  // namespace orrery

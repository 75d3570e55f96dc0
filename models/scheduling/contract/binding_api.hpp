// models/scheduling/contract/binding_api.hpp -- the extension points after a node is chosen for a
// pod.
#pragma once

#include "models/scheduling/contract/cycle_state.hpp"
#include "models/scheduling/contract/policy.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

class ORRERY_API Reserve : public Point {
 public:
  static constexpr PointName kPoint{"Reserve", "reserves the chosen node; Unreserve undoes it"};
  virtual Status reserve(const Cycle& cycle, NodeId node) = 0;
  // Must be idempotent. May be called even if reserve() was not called for the pod.
  virtual void unreserve(const PodView& pod, NodeId node) = 0;
};
class ORRERY_API Permit : public Point {
 public:
  static constexpr PointName kPoint{"Permit",
                                    "whether the pod is bound now, waits, or is rejected"};
  // Returns Success, a rejection, or Wait with a timeout. The framework caps the timeout at 15 min.
  virtual PermitStatus permit(const Cycle& cycle, NodeId node) = 0;
};
class ORRERY_API PreBind : public Point {
 public:
  static constexpr PointName kPoint{"PreBind", "last step before the pod is bound"};
  virtual Status pre_bind(const PodView& pod, NodeId node) = 0;
};
class ORRERY_API Bind : public Point {
 public:
  static constexpr PointName kPoint{"Bind", "binds the pod"};
  // The first Bind plugin that does not return Skip decides: with Success it has bound the pod,
  // with any other status the pod is rejected. If all return Skip, or there is no Bind plugin, the
  // framework binds the pod.
  virtual Status bind(const PodView& pod, NodeId node) = 0;
};
class ORRERY_API PostBind : public Point {
 public:
  static constexpr PointName kPoint{"PostBind", "called after the pod is bound"};
  virtual void post_bind(const PodView& pod, NodeId node) = 0;
};

}  // namespace orrery

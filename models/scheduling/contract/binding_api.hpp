// models/scheduling/contract/binding_api.hpp -- the extension points after a pod has a node.
#pragma once

#include "models/scheduling/contract/cycle_state.hpp"
#include "models/scheduling/contract/policy.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

class ORRERY_API Reserve : public Point {
 public:
  static constexpr PointName kPoint{"Reserve", "reserves the chosen node; Unreserve undoes it"};
  virtual Status reserve(const Cycle& cycle, NodeId node) = 0;
  virtual void unreserve(const PodView& pod, NodeId node) = 0;  // must be idempotent
};
class ORRERY_API Permit : public Point {
 public:
  static constexpr PointName kPoint{"Permit", "binds now, waits, or rejects"};
  // Success, Wait with a timeout (the framework caps it at 15 min), or a rejection.
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
  // The first Bind plugin that does not Skip binds the pod. If all Skip, or none exists, the
  // framework binds it.
  virtual Status bind(const PodView& pod, NodeId node) = 0;
};
class ORRERY_API PostBind : public Point {
 public:
  static constexpr PointName kPoint{"PostBind", "the pod is bound"};
  virtual void post_bind(const PodView& pod, NodeId node) = 0;
};

}  // namespace orrery

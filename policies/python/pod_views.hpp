// policies/python/pod_views.hpp -- nodes, pods, gangs and the handle as Python sees them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <string>

#include "models/scheduling/contract/policy_api.hpp"
#include "policies/python/interpreter.hpp"
#include "policies/python/lent.hpp"

namespace orrery::python {

class Nodes {  // arrays over all nodes: views of what the cluster has
 public:
  explicit Nodes(const ClusterState& cluster);
  const ClusterState& cluster() const { return *cluster_; }
  py::dict allocatable, requested;  // by resource
  // Those in question, while filter or score runs; null: none.
  const NodeSet* candidates = nullptr;
  std::span<const NodeId> feasible = {};

  py::object candidate_ids() const;  // None: none are in question
  void take_back() { cluster_.take_back(); }

 private:
  Lent<const ClusterState> cluster_;
};

struct Pod {
  PodView view;
  std::string team;
  PodSpec spec;  // of its own: Python may keep it
};
Pod pod_of(const PodView& view);

struct Gang {
  GangView view;
  std::string name;
};
Gang gang_of(const GangView& view);

struct CyclePart : CycleData {  // what an attempt keeps for a policy
  CyclePart();
  ~CyclePart() override;
  CyclePart(const CyclePart&) = delete;
  CyclePart& operator=(const CyclePart&) = delete;
  py::dict kept;
};

struct CycleRef {
  Lent<const Cycle> cycle;
  const Policy* owner;
};
struct HandleRef {
  Lent<Handle> handle;
};
struct DiagnosisRef {
  Lent<const Diagnosis> diagnosis;
};

// Resources by name.
py::dict amounts(const Resources& resources);
void bind_pod_views(py::module_& m);
void bind_job_views(py::module_& m);

}  // namespace orrery::python

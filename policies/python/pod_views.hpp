// policies/python/pod_views.hpp -- nodes, pods, gangs, cycles and the handle as Python sees them;
// conversions of ids and resources for Python.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_api.hpp"
#include "policies/python/interpreter.hpp"
#include "policies/python/lent.hpp"

namespace orrery::python {

class Nodes {  // arrays over all nodes: views of the cluster's memory
 public:
  explicit Nodes(const Lent<const ClusterState>& cluster);
  const ClusterState& cluster() const { return *cluster_; }
  py::dict allocatable, requested;  // by resource
  // Nodes that are still feasible: `candidates` is set in PreFilter and Filter, `feasible` in
  // PreScore and Score.
  const NodeSet* candidates = nullptr;
  std::span<const NodeId> feasible = {};

  py::object candidate_ids() const;  // ids of these nodes; None at other extension points
  void take_back() { cluster_.take_back(); }

 private:
  Lent<const ClusterState> cluster_;
};

struct Pod {
  PodView view;
  std::string team;
  PodSpec spec;  // a copy: Python may keep it
};
Pod pod_of(const PodView& view);

struct Gang {
  GangView view;
  std::string name;
};
Gang gang_of(const GangView& view);

struct CyclePart : CycleData {  // data that an attempt stores for a policy
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
class WhatIfs;
struct HandleRef {
  Lent<Handle> handle;
  std::shared_ptr<WhatIfs> what_ifs;  // what-ifs that the policy has open
};
struct DiagnosisRef {
  Lent<const Diagnosis> diagnosis;
};

// Resources by name.
py::dict amounts(const Resources& resources);
py::object ids_of(std::span<const NodeId> nodes);
py::object mask_of(const NodeSet& set);                          // bool for each node
NodeId checked_node(const ClusterState& cluster, int64_t node);  // throws py::index_error
template <class Tag>
py::object id_or_none(Id<Tag> id) {
  if (!id.is_valid()) return py::none();
  return py::int_(id.index);
}

template <class Ids>
std::vector<uint32_t> numbers_of(const Ids& ids) {
  std::vector<uint32_t> numbers;
  for (const auto id : ids) numbers.push_back(id.index);
  return numbers;
}

void bind_pod_views(py::module_& m);
void bind_placed_views(py::module_& m, py::class_<HandleRef>& handle);
void bind_job_views(py::module_& m);
void bind_control_views(py::module_& m);

}  // namespace orrery::python

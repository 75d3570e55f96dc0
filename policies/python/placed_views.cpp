#include "policies/python/placed_views.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>

namespace orrery::python {
namespace {

const Preemption& preemption_of(const Handle& handle) {
  const Preemption* const preemption = handle.preemption();
  if (preemption == nullptr) throw py::value_error("driver: counting places no pods");
  return *preemption;
}

// A what-if opened by a policy; closed at the end of post_filter() at the latest.
struct WhatIfRef {
  std::shared_ptr<WhatIfs> all;
  std::shared_ptr<WhatIfs::One> one;
  Lent<Handle> handle;

  WhatIf& pods() const { return *checked().pods; }
  GangWhatIf& gang() const { return *checked().gang; }
  WhatIfs::One& checked() const {
    if (one->pods == nullptr && one->gang == nullptr) {
      throw py::value_error("the what-if is over: it lasts as long as its `with`");
    }
    return *one;
  }
};
struct PodWhatIfRef : WhatIfRef {};
struct GangWhatIfRef : WhatIfRef {};

NodeSet nodes_of(const ClusterState& cluster, const py::object& items) {
  NodeSet nodes{cluster.nodes()};
  const py::array given = py::array::ensure(items);
  if (!given) throw py::value_error("expected bool for each node, or ids of nodes");
  if (given.dtype().kind() == 'b') {
    if (given.ndim() != 1 || static_cast<size_t>(given.size()) != cluster.nodes()) {
      throw py::value_error("expected bool for each node, or ids of nodes");
    }
    const py::array_t<bool, py::array::forcecast> are_in{given};
    const auto is_in = are_in.unchecked<1>();
    for (uint32_t n = 0; n < cluster.nodes(); ++n) {
      if (is_in(n)) nodes.insert({n});
    }
    return nodes;
  }
  for (const py::handle node : given) {
    nodes.insert(checked_node(cluster, py::int_(py::reinterpret_borrow<py::object>(node))));
  }
  return nodes;
}

template <class Ref>
void evict(const Ref& what_if, uint32_t pod) {
  WhatIfs::One& one = what_if.checked();
  if (!what_if.handle->placements().node_of({pod}).is_valid()) {
    throw py::value_error("pod " + std::to_string(pod) + " has no node: it cannot be evicted");
  }
  one.out.insert(pod);
  one.pods ? one.pods->evict({pod}) : one.gang->evict({pod});
}

template <class Ref>
void restore(const Ref& what_if, uint32_t pod) {
  WhatIfs::One& one = what_if.checked();
  if (one.out.erase(pod) == 0) {
    throw py::value_error("pod " + std::to_string(pod) + " was not evicted in this what-if");
  }
  one.pods ? one.pods->restore({pod}) : one.gang->restore({pod});
}

py::list placed(const GangWhatIfRef& what_if) {
  py::list all;  // (pod, node)
  for (const MemberOnNode& m : what_if.gang().placed()) {
    all.append(py::make_tuple(m.pod.index, m.node.index));
  }
  return all;
}

template <class Ref>
py::class_<Ref> bind_what_if(py::module_& m, const char* name) {
  py::class_<Ref> what_if(m, name);
  what_if.def("evict", evict<Ref>, py::arg("pod"))
      .def("restore", restore<Ref>, py::arg("pod"))
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__",
           [](const Ref& w, const py::args& /*exception*/) { w.all->close(w.checked()); });
  return what_if;
}

std::vector<PlacedPod> placed_on(const HandleRef& h, int64_t node) {
  std::vector<PlacedPod> pods;
  preemption_of(*h.handle).placed_on(checked_node(h.handle->cluster(), node), pods);
  return pods;
}

}  // namespace

py::object counts_of(const Placements& placements, const std::map<std::string, std::string>& labels,
                     bool by_leaf, const std::string& team, bool keeping_away) {
  using Members = PodGroup::Members;
  PodGroup group{.topology_key = by_leaf ? PodTopology::Leaf : PodTopology::Hostname,
                 .members = keeping_away ? Members::KeepingAway : Members::Labelled,
                 .team = team};
  for (const auto& [key, value] : labels) group.labels.push_back({key, value});
  const PodCounts& counts = placements.count(group);
  return py::array_t<int32_t>{static_cast<py::ssize_t>(counts.in.size()), counts.in.data()};
}

void WhatIfs::expect_post_filter() const {
  if (scopes_ == 0) throw py::value_error("what-ifs are for post_filter()");
}

std::shared_ptr<WhatIfs::One> WhatIfs::open(const Handle& handle, const Cycle& cycle) {
  expect_post_filter();
  open_.push_back(std::make_shared<One>(One{preemption_of(handle).what_if(cycle), nullptr}));
  return open_.back();
}

std::shared_ptr<WhatIfs::One> WhatIfs::open_for_gang(const Handle& handle, const Cycle& cycle) {
  expect_post_filter();
  if (std::ranges::any_of(open_, [](const auto& one) { return one->gang != nullptr; })) {
    throw py::value_error("one what-if of a gang at a time");
  }
  std::unique_ptr<GangWhatIf> gang = preemption_of(handle).gang_what_if(cycle);
  if (gang == nullptr) return nullptr;
  open_.push_back(std::make_shared<One>(One{nullptr, std::move(gang)}));
  return open_.back();
}

void WhatIfs::close(const One& one) {
  if (open_.empty() || open_.back().get() != &one) {
    throw py::value_error("an inner what-if must end before the outer one");
  }
  close_down_to(open_.size() - 1);
}

void WhatIfs::close_down_to(size_t size) {
  while (open_.size() > size) {
    open_.back()->pods.reset();
    open_.back()->gang.reset();
    open_.pop_back();
  }
}

void bind_placed_views(py::module_& m, py::class_<HandleRef>& handle) {
  py::class_<PlacedPod>(m, "PlacedPod")
      .def_property_readonly("id", [](const PlacedPod& p) { return p.id.index; })
      .def_readonly("priority", &PlacedPod::priority)
      .def_property_readonly("since_ns", [](const PlacedPod& p) { return p.since.ns; })
      .def_readonly("is_leaving", &PlacedPod::is_leaving);
  bind_what_if<PodWhatIfRef>(m, "WhatIf")
      .def("feasible",  // feasible subset of `nodes` (a mask or ids), as a mask
           [](const PodWhatIfRef& w, const py::object& nodes) {
             return mask_of(w.pods().feasible(nodes_of(w.handle->cluster(), nodes)));
           })
      .def_property_readonly("is_node_local",
                             [](const PodWhatIfRef& w) { return w.pods().is_node_local(); });
  bind_what_if<GangWhatIfRef>(m, "GangWhatIf")
      .def("fits", [](const GangWhatIfRef& w) { return w.gang().fits(); })
      .def_property_readonly("placed", placed)
      .def_property_readonly("spent_ns",
                             [](const GangWhatIfRef& w) { return w.gang().spent().ns; });
  handle
      .def("placed_on", placed_on)  // more important pods first
      .def("is_above_any",
           [](const HandleRef& h, int32_t priority) {
             return preemption_of(*h.handle).is_above_any(priority);
           })
      .def("unsaved_ns", [](const HandleRef& h,
                            uint32_t pod) { return preemption_of(*h.handle).unsaved({pod}).ns; })
      .def("nominated_node",
           [](const HandleRef& h, uint32_t pod) {
             return id_or_none(preemption_of(*h.handle).nominated_node({pod}));
           })
      .def("nominated_on",
           [](const HandleRef& h, int64_t node) {
             std::vector<PodId> pods;
             preemption_of(*h.handle).nominated_on(checked_node(h.handle->cluster(), node), pods);
             return numbers_of(pods);
           })
      .def("what_if",
           [](const HandleRef& h, const CycleRef& c) {
             return PodWhatIfRef{{h.what_ifs, h.what_ifs->open(*h.handle, *c.cycle), h.handle}};
           })
      .def("gang_what_if", [](const HandleRef& h, const CycleRef& c) -> py::object {
        auto one = h.what_ifs->open_for_gang(*h.handle, *c.cycle);
        if (one == nullptr) return py::none();
        return py::cast(GangWhatIfRef{{h.what_ifs, std::move(one), h.handle}});
      });
  bind_ledger<HandleRef>(
      handle, [](const HandleRef& h) -> const ClusterState& { return h.handle->cluster(); },
      [](const HandleRef& h) -> const Placements& { return h.handle->placements(); });
}

}  // namespace orrery::python

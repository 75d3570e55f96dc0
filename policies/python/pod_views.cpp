#include "policies/python/pod_views.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sim/core/enum_names.hpp"

namespace orrery::python {
namespace {

// A read-only array over memory that lives as long as the run.
template <class T>
py::array view_of(std::span<const T> items) {
  const py::capsule base{items.data(), [](void*) {}};
  py::array_t<T> array{static_cast<py::ssize_t>(items.size()), items.data(), base};
  array.attr("flags").attr("writeable") = false;
  return array;
}

py::dict labels_of(const PodSpec& spec) {
  py::dict labels;
  for (const NodeLabel& label : spec.labels) labels[py::str(label.key)] = label.value;
  return labels;
}

uint64_t below(Rng& rng, uint64_t bound) {
  if (bound == 0) throw py::value_error("below() needs a bound above 0");
  return rng.below(bound);
}

void expect_resource(const Nodes& nodes, const py::str& resource) {
  if (nodes.allocatable.contains(resource)) return;
  std::string text = "there is no resource '" + resource.cast<std::string>() + "', but";
  for (const std::string_view name : enum_names(Resource{})) text.append(" ").append(name);
  throw py::value_error(text);
}

py::object labelled(const Nodes& nodes, const std::map<std::string, std::string>& labels) {
  SelectorTerm term;
  for (const auto& [key, value] : labels) {
    term.all_of.push_back({.key = key, .op = SelectorOperator::In, .values = {value}});
  }
  return mask_of(nodes.cluster().matching(term));
}

py::object tainted(const Nodes& nodes, const std::string& key) {
  const ClusterState& cluster = nodes.cluster();
  NodeSet all{cluster.nodes()};
  for (size_t taint = 0; taint < cluster.taints().size(); ++taint) {
    if (cluster.taints()[taint].key == key) all |= cluster.with_taint(taint);
  }
  return mask_of(all);
}

void bind_nodes(py::module_& m) {
  py::class_<Nodes>(m, "Nodes")
      .def("__len__", [](const Nodes& n) { return n.cluster().nodes(); })
      .def_property_readonly("allocatable", [](const Nodes& n) { return n.allocatable; })
      .def_property_readonly("requested", [](const Nodes& n) { return n.requested; })
      .def("free",
           [](const Nodes& n, const py::str& resource) {
             expect_resource(n, resource);
             return n.allocatable[resource].attr("__sub__")(n.requested[resource]);
           })
      .def_property_readonly("up", [](const Nodes& n) { return mask_of(n.cluster().up()); })
      .def_property_readonly("cordoned",
                             [](const Nodes& n) { return mask_of(n.cluster().cordoned()); })
      .def_property_readonly("leaf", [](const Nodes& n) { return view_of(n.cluster().leaf()); })
      .def_property_readonly("machine",
                             [](const Nodes& n) { return view_of(n.cluster().machine()); })
      .def_property_readonly("idle_gpus",
                             [](const Nodes& n) { return view_of(n.cluster().idle_gpus()); })
      .def("labelled", labelled)
      .def("tainted", tainted)
      .def("name", [](const Nodes& n,
                      int64_t node) { return n.cluster().name(checked_node(n.cluster(), node)); })
      .def("gpu_left_milli",  // what is left of each GPU of a node
           [](const Nodes& n, int64_t node) {
             const NodeId id = checked_node(n.cluster(), node);
             std::vector<int32_t> left;
             for (uint32_t gpu = 0; gpu < n.cluster().gpus(id); ++gpu) {
               left.push_back(n.cluster().gpu_left_milli(id, gpu));
             }
             return left;
           })
      .def_property_readonly("candidates", &Nodes::candidate_ids);
}

void bind_pod(py::module_& m) {
  py::class_<Pod>(m, "Pod")
      .def_property_readonly("id", [](const Pod& p) { return p.view.id.index; })
      .def_property_readonly("job", [](const Pod& p) { return p.view.job.index; })
      .def_property_readonly("job_uid", [](const Pod& p) { return p.view.job_uid; })
      .def_property_readonly("gang", [](const Pod& p) { return id_or_none(p.view.gang); })
      .def_property_readonly("role", [](const Pod& p) { return id_or_none(p.view.role); })
      .def_property_readonly("spec_id", [](const Pod& p) { return p.view.spec_id.index; })
      .def_property_readonly("rank", [](const Pod& p) { return p.view.rank; })
      .def_property_readonly("attempts", [](const Pod& p) { return p.view.attempts; })
      .def_property_readonly("created_ns", [](const Pod& p) { return p.view.created.ns; })
      .def_readonly("team", &Pod::team)
      .def_property_readonly("requests", [](const Pod& p) { return amounts(p.spec.requests()); })
      .def_property_readonly("gpus", [](const Pod& p) { return p.spec.gpus; })
      .def_property_readonly("gpu_milli", [](const Pod& p) { return p.spec.gpu_milli; })
      .def_property_readonly("priority", [](const Pod& p) { return p.spec.priority; })
      .def_property_readonly("node_name", [](const Pod& p) { return p.spec.node_name; })
      .def_property_readonly("labels", [](const Pod& p) { return labels_of(p.spec); });
  py::class_<QueuedUnit>(m, "Unit")
      .def_property_readonly("pod", [](const QueuedUnit& u) { return u.pod.index; })
      .def_property_readonly("gang", [](const QueuedUnit& u) { return id_or_none(u.gang); })
      .def_readonly("priority", &QueuedUnit::priority)
      .def_property_readonly("queued_ns", [](const QueuedUnit& u) { return u.queued.ns; })
      .def_property_readonly("initial_attempt_ns",
                             [](const QueuedUnit& u) { return u.initial_attempt.ns; })
      .def_property_readonly("gang_created_ns",
                             [](const QueuedUnit& u) { return u.gang_created.ns; })
      .def_property_readonly("gang_failed_ns",
                             [](const QueuedUnit& u) { return u.gang_failed.ns; });
  py::class_<ClusterEvent>(m, "Event")
      .def_property_readonly("kind",
                             [](const ClusterEvent& e) { return std::string{name_of(e.kind)}; })
      .def_property_readonly("node", [](const ClusterEvent& e) { return id_or_none(e.node); })
      .def_property_readonly("gang", [](const ClusterEvent& e) { return id_or_none(e.gang); });
}

void bind_gang(py::module_& m) {
  py::class_<Gang> gang(m, "Gang");
  const auto number = [&](const char* name, int32_t GangView::*member) {
    gang.def_property_readonly(name, [member](const Gang& g) { return g.view.*member; });
  };
  number("gangs_of_job", &GangView::gangs_of_job);
  number("min_available", &GangView::min_available);
  number("pods", &GangView::pods);
  number("created", &GangView::created);
  number("gated", &GangView::gated);
  number("waiting", &GangView::waiting);
  number("bound", &GangView::bound);
  number("binding", &GangView::binding);
  number("priority", &GangView::priority);
  gang.def_property_readonly("id", [](const Gang& g) { return id_or_none(g.view.id); })
      .def_readonly("name", &Gang::name)
      .def_property_readonly("job", [](const Gang& g) { return g.view.job.index; })
      .def_property_readonly("job_uid", [](const Gang& g) { return g.view.job_uid; })
      .def_property_readonly("first_pod", [](const Gang& g) { return g.view.first.index; })
      .def_property_readonly("first_of_job",
                             [](const Gang& g) { return id_or_none(g.view.first_of_job); })
      .def_property_readonly("assigned", [](const Gang& g) { return g.view.assigned(); })
      .def_property_readonly("are_enough_created",
                             [](const Gang& g) { return g.view.are_enough_created(); })
      .def_property_readonly("created_at_ns", [](const Gang& g) { return g.view.created_at.ns; })
      .def_property_readonly("last_failure_ns",
                             [](const Gang& g) { return g.view.last_failure.ns; })
      .def_property_readonly("backoff_until_ns",
                             [](const Gang& g) { return g.view.backoff_until.ns; })
      .def_property_readonly("schedule_timeout_ns",
                             [](const Gang& g) { return g.view.schedule_timeout.ns; })
      .def(
          "missing", [](const Gang& g, int32_t asked) { return g.view.missing(asked); },
          py::arg("asked") = 0);
}

void bind_cycle(py::module_& m) {
  py::class_<Rng>(m, "Rng")
      .def("below", below)
      .def("uniform", &Rng::uniform)
      .def("normal", &Rng::normal)
      .def("exponential", [](Rng& rng) { return rng.exponential(); });
  py::class_<CycleRef>(m, "Cycle")
      .def_property_readonly("now_ns", [](const CycleRef& c) { return c.cycle->now.ns; })
      .def_property_readonly("pod", [](const CycleRef& c) { return pod_of(c.cycle->pod); })
      .def_property_readonly(
          "state", [](const CycleRef& c) { return c.cycle->state.of<CyclePart>(*c.owner).kept; })
      // Random numbers of this attempt, from the stream named `s`.
      .def("uniform",
           [](const CycleRef& c, const std::string& s) { return c.cycle->state.rng(s).uniform(); })
      .def("below", [](const CycleRef& c, const std::string& s, uint64_t bound) {
        return below(c.cycle->state.rng(s), bound);
      });
  py::class_<DiagnosisRef>(m, "Diagnosis")
      .def_property_readonly(
          "pre_filter_reason",
          [](const DiagnosisRef& d) { return std::string{d.diagnosis->pre_filter_reason}; })
      .def_property_readonly(
          "unresolvable",  // nodes on which no eviction helps
          [](const DiagnosisRef& d) { return mask_of(d.diagnosis->candidates.unresolvable()); })
      .def_property_readonly("rejections", [](const DiagnosisRef& d) {
        py::list all;  // (reason, nodes, whether no eviction helps)
        for (const Rejection& r : d.diagnosis->candidates.rejections()) {
          all.append(py::make_tuple(r.reason, r.nodes, r.is_unresolvable));
        }
        return all;
      });
}

void bind_handle(py::module_& m) {
  py::class_<HandleRef> handle(m, "Handle");
  handle.def_property_readonly("now_ns", [](const HandleRef& h) { return h.handle->now().ns; })
      .def("pod", [](const HandleRef& h, uint32_t pod) { return pod_of(h.handle->pod({pod})); })
      .def("gang",
           [](const HandleRef& h, uint32_t gang) { return gang_of(h.handle->gang({gang})); })
      .def("waiting_pods", [](const HandleRef& h,
                              uint32_t gang) { return numbers_of(h.handle->waiting_pods({gang})); })
      .def("rng", [](const HandleRef& h, const std::string& s) { return h.handle->rng(s); })
      .def("allow_waiting",
           [](const HandleRef& h, uint32_t pod) { h.handle->allow_waiting({pod}); })
      .def("reject_waiting",
           [](const HandleRef& h, uint32_t pod, const std::string& reason) {
             h.handle->reject_waiting({pod}, reason);
           })
      .def("reject_gangs",
           [](const HandleRef& h, uint32_t first, int32_t gangs, const std::string& reason) {
             h.handle->reject_gangs({first}, gangs, reason);
           })
      .def("activate_siblings",
           [](const HandleRef& h, uint32_t pod) { h.handle->activate_siblings({pod}); })
      .def("set_gang_failure",
           [](const HandleRef& h, uint32_t gang, int64_t failed_at_ns, int64_t backoff_until_ns) {
             h.handle->set_gang_failure({gang}, {failed_at_ns}, {backoff_until_ns});
           })
      .def(
          "nominate",
          [](const HandleRef& h, uint32_t pod, int64_t node, bool is_tried_first) {
            h.handle->nominate({pod}, checked_node(h.handle->cluster(), node), is_tried_first);
          },
          py::arg("pod"), py::arg("node"), py::arg("is_tried_first") = false)
      .def("withdraw", [](const HandleRef& h, uint32_t pod) { h.handle->withdraw({pod}); })
      .def(
          "evict",
          [](const HandleRef& h, uint32_t preemptor, const std::vector<uint32_t>& victims,
             bool waits) {
            std::vector<PodId> pods;
            for (const uint32_t victim : victims) pods.push_back({victim});
            h.handle->evict({preemptor}, std::move(pods), waits);
          },
          py::arg("preemptor"), py::arg("victims"), py::arg("waits") = false);
  bind_placed_views(m, handle);
}

}  // namespace

Nodes::Nodes(const Lent<const ClusterState>& cluster) : cluster_{cluster} {
  for (size_t r = 0; r < kResources; ++r) {
    const auto resource = static_cast<Resource>(r);
    const py::str name{std::string{enum_names(Resource{})[r]}};
    allocatable[name] = view_of(cluster->allocatable(resource));
    requested[name] = view_of(cluster->requested(resource));
  }
}

py::object Nodes::candidate_ids() const {
  if (candidates == nullptr) return feasible.data() == nullptr ? py::none() : ids_of(feasible);
  std::vector<NodeId> left;
  candidates->for_each([&](NodeId n) { left.push_back(n); });
  return ids_of(left);
}

CyclePart::CyclePart() = default;
CyclePart::~CyclePart() {
  const py::gil_scoped_acquire lock;
  kept.release().dec_ref();
}

py::object ids_of(std::span<const NodeId> nodes) {
  py::array_t<uint32_t> array{static_cast<py::ssize_t>(nodes.size())};
  uint32_t* at = array.mutable_data();
  for (const NodeId n : nodes) *at++ = n.index;
  return array;
}

py::object mask_of(const NodeSet& set) {
  py::array_t<bool> mask{static_cast<py::ssize_t>(set.universe())};
  bool* const is_in = mask.mutable_data();
  std::fill_n(is_in, set.universe(), false);
  set.for_each([&](NodeId n) { is_in[n.index] = true; });
  return mask;
}

NodeId checked_node(const ClusterState& cluster, int64_t node) {
  if (node < 0 || node >= static_cast<int64_t>(cluster.nodes())) {
    throw py::index_error("there is no node " + std::to_string(node));
  }
  return {static_cast<uint32_t>(node)};
}

Pod pod_of(const PodView& view) {
  return {.view = view, .team = std::string{view.team}, .spec = *view.spec};
}
Gang gang_of(const GangView& view) { return {.view = view, .name = std::string{view.name}}; }

py::dict amounts(const Resources& resources) {
  py::dict all;
  for (size_t r = 0; r < kResources; ++r) {
    const std::string name{enum_names(Resource{})[r]};
    all[py::str(name)] = resources[static_cast<Resource>(r)];
  }
  return all;
}

void bind_pod_views(py::module_& m) {
  bind_nodes(m);
  bind_pod(m);
  bind_gang(m);
  bind_cycle(m);
  bind_handle(m);
}

}  // namespace orrery::python

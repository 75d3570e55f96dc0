#include "policies/python/pod_policy.hpp"

#include <pybind11/numpy.h>

#include <limits>

#include "policies/python/placed_views.hpp"

namespace orrery::python {
struct PodPolicy::Kept {
  Kept() = default;
  ~Kept() {
    const py::gil_scoped_acquire lock;
    instance.reset();
    nodes = {};
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  std::unique_ptr<Instance> instance;
  py::object nodes;
  Nodes* of_nodes = nullptr;  // points to the object in `nodes`
  const std::shared_ptr<WhatIfs> what_ifs = std::make_shared<WhatIfs>();
  std::string reason;  // text of the last status
};

// Calls f with two Python objects: the cycle and the policy's Nodes. The cycle is lent for this
// call only.
template <class F>
auto PodPolicy::with(const Cycle& cycle, F&& f) const {
  return in_python([&] {
    const Loan<const Cycle> loan{cycle};
    struct Reset {
      Nodes& nodes;
      ~Reset() {
        nodes.candidates = nullptr;
        nodes.feasible = {};
      }
    } const reset{*kept_->of_nodes};
    return f(py::cast(CycleRef{loan.lent(), this}), kept_->nodes);
  });
}

PodPolicy::PodPolicy(Handle& handle, const RawParams& args)
    : cluster_{handle.cluster()}, handle_{handle}, kept_{std::make_unique<Kept>()} {
  start_interpreter();
  in_python([&] { make(args); });
}

void PodPolicy::make(const RawParams& args) {
  kept_->nodes = py::cast(std::make_unique<Nodes>(Lent<const ClusterState>{cluster_}));
  kept_->of_nodes = kept_->nodes.cast<Nodes*>();
  py::dict lent;
  lent["nodes"] = kept_->nodes;
  lent["handle"] = HandleRef{handle_, kept_->what_ifs};
  kept_->instance = std::make_unique<Instance>(args, lent);
  const Instance& policy = *kept_->instance;
  is_node_local_ = policy.is_set("is_node_local");
  is_by_extremes_ = policy.is_set("is_by_extremes");
  places_lone_pods_ = policy.is_set("places_lone_pods");
  if (policy.has("events")) events_ = events_of_interest();
}

PodPolicy::~PodPolicy() {
  const py::gil_scoped_acquire lock;
  handle_.take_back();
  if (kept_->of_nodes != nullptr) kept_->of_nodes->take_back();
}

Asked PodPolicy::asked(std::string_view method) const { return {*kept_->instance, method}; }

Status PodPolicy::kept(Answer answer) const {
  kept_->reason = std::move(answer.reason);
  return {answer.code, kept_->reason};
}

ClusterEvents PodPolicy::events_of_interest() const {
  constexpr auto kNames = enum_names(ClusterEventKind{});
  ClusterEvents events = 0;
  const py::object given = kept_->instance->call("events");
  if (!py::isinstance<py::iterable>(given) || py::isinstance<py::str>(given)) {
    throw kept_->instance->wrong("events", given, "a list of names of events");
  }
  for (const py::handle one : given) {
    const auto name = py::str(one).cast<std::string>();
    const auto* const known = std::ranges::find(kNames, name);
    if (known == kNames.end()) {
      std::string names;
      for (const std::string_view kind : kNames)
        names.append(names.empty() ? "" : ", ").append(kind);
      throw kept_->instance->wrong("events", one, "names of events: " + names);
    }
    events |= bit_of(static_cast<ClusterEventKind>(known - kNames.begin()));
  }
  return events;
}

// ---- the queue

Status PodPolicy::pre_enqueue(const PodView& pod) {
  return in_python([&] {
    const py::object given = kept_->instance->call("pre_enqueue", pod_of(pod));
    return kept(status_from(asked("pre_enqueue"), given));
  });
}

bool PodPolicy::less(const QueuedUnit& a, const QueuedUnit& b) const {
  return in_python([&] { return bool_from(asked("less"), kept_->instance->call("less", a, b)); });
}

PodId PodPolicy::next() {
  return in_python([&] {
    const auto pod =
        integer_or_none(asked("next"), kept_->instance->call("next"), 0, int64_t{UINT32_MAX} - 1);
    return pod ? PodId{static_cast<uint32_t>(*pod)} : PodId{};
  });
}

QueueHint PodPolicy::hint(const PodView& pod, const ClusterEvent& event) const {
  if (!kept_->instance->has("hint")) return QueueHint::Queue;
  return in_python([&] {
    const py::object given = kept_->instance->call("hint", pod_of(pod), event);
    return bool_from(asked("hint"), given) ? QueueHint::Queue : QueueHint::Skip;
  });
}

// ---- a node for a pod

Status PodPolicy::pre_filter(const Cycle& cycle, NodeSet& nodes) const {
  return with(cycle, [&](const py::object& lent, const py::object& all) -> Status {
    kept_->of_nodes->candidates = &nodes;
    const py::object given = kept_->instance->call("pre_filter", lent, all);
    if (!py::isinstance<py::array>(given)) return kept(status_from(asked("pre_filter"), given));
    nodes &= nodes_from(asked("pre_filter"), given, cluster_.nodes());
    return {};
  });
}

void PodPolicy::filter(const Cycle& cycle, Candidates& nodes) const {
  with(cycle, [&](const py::object& lent, const py::object& all) {
    kept_->of_nodes->candidates = &nodes.nodes();
    py::object given = kept_->instance->call("filter", lent, all);
    kept_->reason = "node(s) were rejected by " + kept_->instance->name();
    if (py::isinstance<py::tuple>(given) && py::len(given) == 2) {
      kept_->reason = py::str(given[py::int_(1)]).cast<std::string>();
      given = given[py::int_(0)];
    }
    nodes.keep(nodes_from(asked("filter"), given, cluster_.nodes()),
               {Code::Unschedulable, kept_->reason});
  });
}

Status PodPolicy::post_filter(const Cycle& cycle, const Diagnosis& diagnosis) {
  return with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    const Loan<const Diagnosis> loan{diagnosis};
    const WhatIfs::Scope scope{*kept_->what_ifs};
    const py::object given = kept_->instance->call("post_filter", lent, DiagnosisRef{loan.lent()});
    return kept(status_from(asked("post_filter"), given, Code::Unschedulable));
  });
}

Status PodPolicy::pre_score(const Cycle& cycle, std::span<const NodeId> feasible) const {
  return with(cycle, [&](const py::object& lent, const py::object& all) {
    kept_->of_nodes->feasible = feasible;
    return kept(status_from(asked("pre_score"), kept_->instance->call("pre_score", lent, all)));
  });
}

void PodPolicy::score(const Cycle& cycle, std::span<const NodeId> nodes,
                      std::span<int64_t> scores) const {
  with(cycle, [&](const py::object& lent, const py::object& all) {
    kept_->of_nodes->feasible = nodes;
    const py::object given = kept_->instance->call("score", lent, all);
    scores_from(asked("score"), given, cluster_, nodes, scores);
  });
}

void PodPolicy::normalize(std::span<int64_t> scores) const {
  if (!kept_->instance->has("normalize") || scores.empty()) return;
  in_python([&] {
    const py::array_t<int64_t> copy{static_cast<py::ssize_t>(scores.size()), scores.data()};
    normalised_from(asked("normalize"), kept_->instance->call("normalize", copy), scores);
  });
}

GpuMask PodPolicy::pick(const Cycle& cycle, NodeId node) const {
  return with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    return gpus_from(asked("pick"), kept_->instance->call("pick", lent, node.index));
  });
}

Duration PodPolicy::charge(const Cycle& cycle) const {
  return with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    return Duration{integer_from(asked("charge"), kept_->instance->call("charge", lent), 0, kMost)};
  });
}

Duration PodPolicy::charge(const CycleState& state) const {
  constexpr std::string_view kName = "post_filter_charge";
  if (!kept_->instance->has(kName)) return {};
  return in_python([&] {
    const auto* const part = state.find<CyclePart>(*this);
    const py::dict found = part == nullptr ? py::dict{} : part->kept;
    return Duration{integer_from(asked(kName), kept_->instance->call(kName, found), 0, kMost)};
  });
}

// ---- whole gangs

void PodPolicy::domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) {
  with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    const py::object given = kept_->instance->call("domains", lent, gang_of(gang));
    for (GangDomain& domain : domains_from(asked("domains"), given, cluster_)) {
      out.push_back(std::move(domain));
    }
  });
}

int64_t PodPolicy::score_placement(const Cycle& cycle, const GangView& gang,
                                   std::span<const NodeId> nodes) const {
  return with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    const py::object given =
        kept_->instance->call("score_placement", lent, gang_of(gang), ids_of(nodes));
    return integer_from(asked("score_placement"), given, 0, 100);
  });
}

// ---- after a pod has a node

Status PodPolicy::reserve(const Cycle& cycle, NodeId node) {
  return with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    return kept(status_from(asked("reserve"), kept_->instance->call("reserve", lent, node.index)));
  });
}

void PodPolicy::unreserve(const PodView& pod, NodeId node) {
  if (!kept_->instance->has("unreserve")) return;
  in_python([&] { kept_->instance->call("unreserve", pod_of(pod), node.index); });
}

PermitStatus PodPolicy::permit(const Cycle& cycle, NodeId node) {
  return with(cycle, [&](const py::object& lent, const py::object& /*all*/) {
    const Answer answer =
        status_from(asked("permit"), kept_->instance->call("permit", lent, node.index));
    const Status status = kept(answer);
    return PermitStatus{status.code, answer.timeout, status.reason};
  });
}

Status PodPolicy::status_of(const char* method, const PodView& pod, NodeId node) const {
  return in_python([&] {
    return kept(status_from(asked(method), kept_->instance->call(method, pod_of(pod), node.index)));
  });
}

Status PodPolicy::pre_bind(const PodView& pod, NodeId node) {
  return status_of("pre_bind", pod, node);
}

Status PodPolicy::bind(const PodView& pod, NodeId node) { return status_of("bind", pod, node); }

void PodPolicy::post_bind(const PodView& pod, NodeId node) {
  in_python([&] { kept_->instance->call("post_bind", pod_of(pod), node.index); });
}

}  // namespace orrery::python

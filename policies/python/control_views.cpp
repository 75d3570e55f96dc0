#include "policies/python/control_views.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "policies/python/placed_views.hpp"
#include "policies/python/pod_views.hpp"
#include "sim/core/enum_names.hpp"

namespace orrery::python {
namespace {

constexpr std::array<std::string_view, 5> kPoolNodeStates{"foreign", "absent", "asked", "joined",
                                                          "member"};

struct JobCopy {  // Python may keep a copy; ids are recycled, serials are not
  JobView view;
  std::string name, user, team;
};
struct PoolCopy {
  PoolView view;
  std::string name;
  py::object nodes;
};

// ---- checks of ids

JobId checked_job(const ControlBoard& board, int64_t job) {
  const JobId id{static_cast<uint32_t>(job)};
  if (id.index == job && board.is_live(id)) return id;
  throw py::index_error("there is no job " + std::to_string(job) + ", or it is over");
}

PodId checked_pod(const ControlBoard& board, int64_t pod) {
  const PodId id{static_cast<uint32_t>(pod)};
  if (id.index == pod && board.is_live(id)) return id;
  throw py::index_error("there is no pod " + std::to_string(pod) + ", or its job is over");
}

// Converts the number of a job or pod, as given to an action, to an id. The job or pod may be over:
// the executor then rejects the action.
template <class I>
I number_of(int64_t number, const char* what) {
  const I id{static_cast<uint32_t>(number)};
  if (id.index == number && id.is_valid()) return id;
  throw py::index_error(std::string{"there is no "} + what + " " + std::to_string(number));
}

Duration span_of(int64_t ns, const char* name) {
  if (ns >= 0) return {ns};
  throw py::value_error(std::string{name} + " is at least 0, got " + std::to_string(ns));
}

Duration span_or_never(const std::optional<int64_t>& ns, const char* name) {
  return ns ? span_of(*ns, name) : Duration::max();
}

// ---- the board

// An array with the value of `get(node)` for each node.
template <class T, class F>
py::array_t<T> by_node(const ControlBoard& board, F&& get) {
  const auto nodes = static_cast<uint32_t>(board.cluster().nodes());
  py::array_t<T> array{static_cast<py::ssize_t>(nodes)};
  T* at = array.mutable_data();
  for (uint32_t n = 0; n < nodes; ++n) *at++ = get(NodeId{n});
  return array;
}

std::vector<PoolCopy> pools_of(const ControlBoard& board) {
  std::vector<PoolCopy> pools;
  for (const PoolView& pool : board.pools()) {
    pools.push_back({.view = pool, .name = std::string{pool.name}, .nodes = ids_of(pool.nodes)});
  }
  return pools;
}

JobCopy job_of(const ControlBoardRef& b, int64_t job) {
  const JobView view = b.board->job(checked_job(*b.board, job));
  return {.view = view,
          .name = std::string{view.name},
          .user = std::string{view.user},
          .team = std::string{view.team}};
}

py::object pool_of(const ControlBoardRef& b, int64_t node) {
  const NodeId id = checked_node(b.board->cluster(), node);
  if (b.board->pool_state(id) == PoolNodeState::Foreign) return py::none();
  return py::int_(b.board->pool_of(id));
}

void bind_job_copy(py::module_& m) {
  py::class_<JobCopy> job(m, "JobView");
  const auto field = [&](const char* name, auto JobView::*member) {
    job.def_property_readonly(name, [member](const JobCopy& j) { return j.view.*member; });
  };
  field("serial", &JobView::serial);
  field("is_gang", &JobView::is_gang);
  field("is_service", &JobView::is_service);
  field("is_suspended", &JobView::is_suspended);
  field("has_checkpoints", &JobView::has_checkpoints);
  field("priority", &JobView::priority);
  field("gpus", &JobView::gpus);
  field("pods", &JobView::pods);
  field("pods_bound", &JobView::pods_bound);
  job.def_property_readonly("id", [](const JobCopy& j) { return j.view.id.index; })
      .def_readonly("name", &JobCopy::name)
      .def_readonly("user", &JobCopy::user)
      .def_readonly("team", &JobCopy::team)
      .def_property_readonly("phase",
                             [](const JobCopy& j) { return std::string{name_of(j.view.phase)}; })
      .def_property_readonly("owner",
                             [](const JobCopy& j) { return std::string{name_of(j.view.owner)}; })
      .def_property_readonly("first_pod", [](const JobCopy& j) { return j.view.first_pod.index; })
      .def_property_readonly("submitted_ns", [](const JobCopy& j) { return j.view.submitted.ns; });
}

void bind_news(py::module_& m) {
  py::class_<WaitingJob>(m, "WaitingJob")
      .def_property_readonly("job", [](const WaitingJob& w) { return w.job.index; })
      .def_property_readonly("since_ns", [](const WaitingJob& w) { return w.since.ns; });
  py::class_<ControlBoard::Unplaced>(m, "UnplacedPod")
      .def_property_readonly("pod", [](const ControlBoard::Unplaced& u) { return u.pod.index; })
      .def_property_readonly("since_ns",
                             [](const ControlBoard::Unplaced& u) { return u.since.ns; });
  py::class_<NodeChange>(m, "NodeChange")
      .def_property_readonly("at_ns", [](const NodeChange& c) { return c.at.ns; })
      .def_property_readonly("node", [](const NodeChange& c) { return c.node.index; })
      .def_readonly("is_up", &NodeChange::is_up);
  py::class_<GangFailure>(m, "GangFailure")
      .def_property_readonly("at_ns", [](const GangFailure& f) { return f.at.ns; })
      .def_property_readonly("job", [](const GangFailure& f) { return f.job.index; })
      .def_readonly("serial", &GangFailure::serial)
      .def_property_readonly("nodes", [](const GangFailure& f) { return ids_of(f.nodes); });
  py::class_<PoolCopy> pool(m, "Pool");
  const auto field = [&](const char* name, uint32_t PoolView::*member) {
    pool.def_property_readonly(name, [member](const PoolCopy& p) { return p.view.*member; });
  };
  field("size", &PoolView::size);
  field("size_min", &PoolView::size_min);
  field("size_max", &PoolView::size_max);
  field("asked", &PoolView::asked);
  pool.def_readonly("name", &PoolCopy::name)
      .def_readonly("nodes", &PoolCopy::nodes)
      .def_property_readonly("unregistered", [](const PoolCopy& p) { return p.view.unregistered; })
      .def_property_readonly("backs_off_until_ns",
                             [](const PoolCopy& p) { return p.view.backs_off_until.ns; });
}

void bind_pods_of_board(py::class_<ControlBoardRef>& board) {
  const auto of_pod = [&](const char* name, auto get) {
    board.def(name, [get](const ControlBoardRef& b, int64_t pod) {
      return get(*b.board, checked_pod(*b.board, pod));
    });
  };
  of_pod("pod", [](const ControlBoard& b, PodId pod) { return pod_of(b.pod(pod)); });
  of_pod("is_ready", [](const ControlBoard& b, PodId pod) { return b.is_ready(pod); });
  of_pod("is_terminating", [](const ControlBoard& b, PodId pod) { return b.is_terminating(pod); });
  of_pod("unsaved_ns", [](const ControlBoard& b, PodId pod) { return b.unsaved(pod).ns; });
  of_pod("budgets", [](const ControlBoard& b, PodId pod) { return b.budgets(pod); });
  of_pod("placed_since_ns", [](const ControlBoard& b, PodId pod) {
    const Placed& placed = b.placements().of(pod);
    return placed.node.is_valid() ? std::optional{placed.since.ns} : std::nullopt;
  });
  board
      .def("disruptions_allowed",
           [](const ControlBoardRef& b, uint32_t budget) {
             return b.board->disruptions_allowed(budget);
           })
      .def("has_pod",
           [](const ControlBoardRef& b, uint32_t pod) { return b.board->is_live(PodId{pod}); })
      .def("has_job",
           [](const ControlBoardRef& b, uint32_t job) { return b.board->is_live(JobId{job}); })
      .def("job", job_of)
      .def("is_held", [](const ControlBoardRef& b,
                         int64_t job) { return b.board->is_held(checked_job(*b.board, job)); })
      .def("pods_of",  // pods with a node, in order of ids
           [](const ControlBoardRef& b, int64_t job) {
             const auto placed = b.board->placements().of_job(checked_job(*b.board, job));
             std::vector<PodId> pods{placed.begin(), placed.end()};
             std::ranges::sort(pods);
             return numbers_of(pods);
           });
  bind_ledger<ControlBoardRef>(
      board, [](const ControlBoardRef& b) -> const ClusterState& { return b.board->cluster(); },
      [](const ControlBoardRef& b) -> const Placements& { return b.board->placements(); });
}

void bind_control_board(py::module_& m) {
  py::class_<ControlBoardRef> board(m, "ControlBoard");
  const auto field = [&](const char* name, auto get) {
    board.def_property_readonly(name, [get](const ControlBoardRef& b) { return get(*b.board); });
  };
  const auto copy = [](const auto& items) { return std::vector(items.begin(), items.end()); };
  field("now_ns", [](const ControlBoard& b) { return b.now().ns; });
  field("jobs", [](const ControlBoard& b) { return numbers_of(b.jobs()); });
  field("waiting", [copy](const ControlBoard& b) { return copy(b.waiting()); });
  field("unplaced", [](const ControlBoard& b) { return b.unplaced(); });
  field("lone_pods", [](const ControlBoard& b) { return b.lone_pods(); });
  field("lone_pods_with_siblings",
        [](const ControlBoard& b) { return b.lone_pods_with_siblings(); });
  field("node_changes", [copy](const ControlBoard& b) { return copy(b.node_changes()); });
  field("gang_failures", [copy](const ControlBoard& b) { return copy(b.gang_failures()); });
  field("pools", pools_of);
  field("nodes_not_ready", [](const ControlBoard& b) { return b.nodes_not_ready(); });
  field("ready", [](const ControlBoard& b) {
    return by_node<bool>(b, [&](NodeId n) { return b.is_ready(n); });
  });
  field("broken", [](const ControlBoard& b) {
    return by_node<bool>(b, [&](NodeId n) { return b.is_broken(n); });
  });
  field("draining", [](const ControlBoard& b) {
    return by_node<bool>(b, [&](NodeId n) { return b.is_draining(n); });
  });
  field("ports_down", [](const ControlBoard& b) {
    return by_node<uint32_t>(b, [&](NodeId n) { return b.ports_down(n); });
  });
  board
      .def("pool_state",
           [](const ControlBoardRef& b, int64_t node) {
             const NodeId id = checked_node(b.board->cluster(), node);
             return std::string{kPoolNodeStates[static_cast<size_t>(b.board->pool_state(id))]};
           })
      .def("pool_of", pool_of)
      .def("rng", [](const ControlBoardRef& b, const std::string& s) { return b.board->rng(s); });
  bind_pods_of_board(board);
}

// ---- actions

TaintEffect effect_of(const std::string& name) {
  constexpr auto kNames = enum_names(TaintEffect{});
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<TaintEffect>(i);
  }
  throw py::value_error("a taint's effect is NoSchedule, PreferNoSchedule or NoExecute, got '" +
                        name + "'");
}

NodeId node_of(const ActionsRef& a, int64_t node) { return checked_node(a.board->cluster(), node); }

void taint(const ActionsRef& a, int64_t node, const std::string& key, const std::string& why,
           const std::string& value, const std::string& effect, bool is_there) {
  if (key.empty()) throw py::value_error("a taint has a key");
  const Taint taint{.key = key, .value = value, .effect = effect_of(effect)};
  a.actions->give(TaintNode{.node = node_of(a, node), .taint = taint, .is_there = is_there}, why);
}

void drain(const ActionsRef& a, int64_t node, const std::string& why,
           const std::optional<int64_t>& deadline_ns, const std::optional<int64_t>& force_ns,
           const std::optional<int64_t>& evict_for_ns) {
  a.actions->give(DrainNode{.node = node_of(a, node),
                            .deadline = span_or_never(deadline_ns, "deadline_ns"),
                            .force_after = span_or_never(force_ns, "force_after_ns"),
                            .evict_for = span_or_never(evict_for_ns, "evict_for_ns")},
                  why);
}

void resize(const ActionsRef& a, int64_t job, int64_t replicas, const std::string& why) {
  if (replicas < 1 || replicas > std::numeric_limits<int32_t>::max()) {
    throw py::value_error("a service has at least 1 replica, got " + std::to_string(replicas));
  }
  a.actions->give(ResizeService{.job = number_of<JobId>(job, "job"),
                                .replicas = static_cast<int32_t>(replicas)},
                  why);
}

uint32_t checked_pool(const ActionsRef& a, int64_t pool) {
  if (pool >= 0 && pool < std::ssize(a.board->pools())) return static_cast<uint32_t>(pool);
  throw py::index_error("there is no pool " + std::to_string(pool));
}

std::vector<NodeId> nodes_from(const ActionsRef& a, const std::vector<int64_t>& nodes) {
  std::vector<NodeId> ids;
  for (const int64_t node : nodes) ids.push_back(node_of(a, node));
  return ids;
}

void add_nodes(const ActionsRef& a, int64_t pool, const std::vector<int64_t>& nodes,
               const std::string& why, uint64_t pods, int64_t mean_ns, int64_t max_ns) {
  a.actions->give(AddNodes{.pool = checked_pool(a, pool),
                           .nodes = nodes_from(a, nodes),
                           .pods = pods,
                           .waited_mean = span_of(mean_ns, "waited_mean_ns"),
                           .waited_max = span_of(max_ns, "waited_max_ns")},
                  why);
}

void wake_at(const ActionsRef& a, int64_t when_ns) {
  if (when_ns < a.board->now().ns) throw py::value_error("wake_at() names a time that is over");
  a.actions->wake_at({when_ns});
}

void idle_until(const ActionsRef& a, std::optional<int64_t> when_ns) {
  a.actions->idle_until(when_ns ? Time{*when_ns} : Time::max());
}

// The methods have the names of the actions in /events/actions; wake_at() and idle_until() are not
// recorded there.
void bind_actions(py::module_& m) {
  const auto node = py::arg("node"), job = py::arg("job"), why = py::arg("why");
  py::class_<ActionsRef>(m, "Actions")
      .def(
          "cordon",
          [](const ActionsRef& a, int64_t n, const std::string& s) {
            a.actions->give(CordonNode{node_of(a, n)}, s);
          },
          node, why)
      .def(
          "uncordon",
          [](const ActionsRef& a, int64_t n, const std::string& s) {
            a.actions->give(UncordonNode{node_of(a, n)}, s);
          },
          node, why)
      .def("taint", taint, node, py::arg("key"), why, py::kw_only(), py::arg("value") = "",
           py::arg("effect") = "NoSchedule", py::arg("is_there") = true)
      .def(
          "evict",
          [](const ActionsRef& a, int64_t pod, const std::string& s, int64_t retry_for_ns) {
            a.actions->give(EvictPod{.pod = number_of<PodId>(pod, "pod"),
                                     .retry_for = span_of(retry_for_ns, "retry_for_ns")},
                            s);
          },
          py::arg("pod"), why, py::kw_only(), py::arg("retry_for_ns") = 0)
      .def("drain", drain, node, why, py::kw_only(), py::arg("deadline_ns") = py::none(),
           py::arg("force_after_ns") = py::none(), py::arg("evict_for_ns") = py::none())
      .def(
          "suspend",
          [](const ActionsRef& a, int64_t j, const std::string& s) {
            a.actions->give(SuspendJob{number_of<JobId>(j, "job")}, s);
          },
          job, why)
      .def(
          "resume",
          [](const ActionsRef& a, int64_t j, const std::string& s) {
            a.actions->give(ResumeJob{number_of<JobId>(j, "job")}, s);
          },
          job, why)
      .def("resize", resize, job, py::arg("replicas"), why)
      .def("add_nodes", add_nodes, py::arg("pool"), py::arg("nodes"), why, py::kw_only(),
           py::arg("pods") = 0, py::arg("waited_mean_ns") = 0, py::arg("waited_max_ns") = 0)
      .def(
          "remove_nodes",
          [](const ActionsRef& a, int64_t pool, const std::vector<int64_t>& nodes,
             const std::string& s, int32_t lost_below) {
            a.actions->give(RemoveNodes{.pool = checked_pool(a, pool),
                                        .nodes = nodes_from(a, nodes),
                                        .lost_below = lost_below},
                            s);
          },
          py::arg("pool"), py::arg("nodes"), why, py::kw_only(),
          py::arg("lost_below") = std::numeric_limits<int32_t>::min())
      .def("wake_at", wake_at, py::arg("when_ns"))
      .def("idle_until", idle_until, py::arg("when_ns") = py::none());
}

}  // namespace

void bind_control_views(py::module_& m) {
  bind_job_copy(m);
  bind_news(m);
  bind_control_board(m);
  bind_actions(m);
}

}  // namespace orrery::python

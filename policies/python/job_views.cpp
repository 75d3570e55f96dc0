// policies/python/job_views.cpp -- jobs, trees of jobs and the board of the job queue as Python
// sees them.
#include "policies/python/job_views.hpp"

#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <optional>

#include "sim/core/enum_names.hpp"

namespace orrery::python {
namespace {

constexpr std::array<std::string_view, 6> kStates{"arrived", "waiting",  "held",
                                                  "running", "stopping", "infeasible"};

std::string state_of(const QueuedJob& job) {
  return std::string{kStates[static_cast<size_t>(job.state)]};
}

// Throws a ValueError about the job unless `is_right`.
void expect(bool is_right, const JobRef& job, const std::string& what) {
  if (is_right) return;
  const QueuedJob& r = job.get();
  throw py::value_error("job " + std::to_string(r.serial) + " is " + state_of(r) + ": " + what);
}

enum class Whose : uint8_t { Waiting, Running, Own };

struct Tree {
  Lent<JobBoard> board;
  Whose whose;
  std::shared_ptr<JobTree> own = {};  // a tree of the policy itself
  const JobTree& get() const {
    if (whose == Whose::Own) return *own;
    return whose == Whose::Waiting ? board->waiting() : board->running();
  }
  py::object job(JobSlot slot) const {
    if (slot == kNoJob) return py::none();
    expect_alive(slot);
    return py::cast(job_of(board, slot));
  }
  // Slots are reused, so a tree must not keep the slots of finished jobs.
  void expect_alive(JobSlot slot) const {
    if (whose != Whose::Own || get().key(slot).serial == board->job(slot).serial) return;
    throw py::value_error("job " + std::to_string(get().key(slot).serial) +
                          " is over and still in a tree: job_ends() and job_cancelled() must "
                          "erase it");
  }
  JobSlot slot_of(const JobRef& job) const {
    constexpr std::array<const char*, 3> kNot{"it is not among those that wait",
                                              "it is not among those that run",
                                              "it is not in the tree"};
    const JobSlot slot = job.get().slot;
    expect(get().contains(slot), job, kNot[static_cast<size_t>(whose)]);
    return slot;
  }
  JobTree& to_change(const JobRef& job) const {
    expect(whose == Whose::Own, job, "only trees of board.tree() are changed by a policy");
    return *own;
  }
};

void insert(const Tree& t, const JobRef& job, int64_t rank, std::optional<int64_t> count,
            std::optional<int64_t> estimate_ns) {
  JobTree& tree = t.to_change(job);
  const QueuedJob& j = job.get();
  if (tree.contains(j.slot)) t.expect_alive(j.slot);
  expect(!tree.contains(j.slot), job, "it is in the tree already");
  if (count.value_or(0) < 0 || estimate_ns.value_or(0) < 0) {
    throw py::value_error("count and estimate_ns are at least 0");
  }
  tree.insert(j.slot, {rank, j.submitted, j.serial}, count.value_or(j.ask.count),
              estimate_ns ? Duration{*estimate_ns} : j.left(t.board->now()));
}

void erase(const Tree& t, const JobRef& job) { t.to_change(job).erase(t.slot_of(job)); }

using KeyTuple = std::tuple<int64_t, int64_t, uint64_t>;
constexpr JobKey kBeforeAll{INT64_MIN, {}, 0};

void bind_tree(py::module_& m) {
  py::class_<Tree>(m, "JobTree")
      .def("insert", insert, py::arg("job"), py::arg("rank"), py::arg("count") = py::none(),
           py::arg("estimate_ns") = py::none())
      .def("erase", erase, py::arg("job"))
      .def("__len__", [](const Tree& t) { return t.get().size(); })
      .def("__iter__",  // iterates over the jobs that are in the tree now
           [](const Tree& t) {
             py::list jobs;
             t.get().for_each([&](JobSlot slot) { jobs.append(t.job(slot)); });
             return py::iter(jobs);
           })
      .def("__contains__",
           [](const Tree& t, const JobRef& job) { return t.get().contains(job.get().slot); })
      .def("first", [](const Tree& t) { return t.job(t.get().first()); })
      .def("next",
           [](const Tree& t, const JobRef& job) { return t.job(t.get().next(t.slot_of(job))); })
      .def("key",  // the sort key
           [](const Tree& t, const JobRef& job) {
             const JobKey& key = t.get().key(t.slot_of(job));
             return KeyTuple{key.rank, key.submitted.ns, key.serial};
           })
      .def(
          "find_after",
          [](const Tree& t, const std::optional<KeyTuple>& key, int64_t free, int64_t window_ns,
             int64_t extra) {
            const JobKey from =
                key ? JobKey{std::get<0>(*key), {std::get<1>(*key)}, std::get<2>(*key)}
                    : kBeforeAll;
            return t.job(
                t.get().find_after(from, {.free = free, .window = {window_ns}, .extra = extra}));
          },
          py::arg("key"), py::arg("free") = INT64_MAX, py::arg("window_ns") = INT64_MAX,
          py::arg("extra") = 0)
      .def("reach",
           [](const Tree& t, int64_t needed) {
             const JobTree::Reach reach = t.get().reach(needed);
             return py::make_tuple(t.job(reach.job), reach.sum);
           })
      .def("sum_through", [](const Tree& t, int64_t rank) { return t.get().sum_through(rank); });
}

void bind_job(py::module_& m) {
  py::class_<JobRef> job(m, "Job");
  const auto field = [&](const char* name, auto get) {
    job.def_property_readonly(name, [get](const JobRef& j) { return get(j.get()); });
  };
  field("id", [](const QueuedJob& j) { return j.id.index; });
  field("serial", [](const QueuedJob& j) { return j.serial; });
  field("priority", [](const QueuedJob& j) { return j.priority; });
  field("state", state_of);
  field("submitted_ns", [](const QueuedJob& j) { return j.submitted.ns; });
  field("queued_ns", [](const QueuedJob& j) { return j.queued.ns; });
  field("count", [](const QueuedJob& j) { return j.ask.count; });
  field("units", [](const QueuedJob& j) { return j.ask.units; });
  field("requests", [](const QueuedJob& j) { return amounts(j.ask.request); });
  field("held", [](const QueuedJob& j) { return amounts(j.held); });
  field("requested_ns", [](const QueuedJob& j) { return j.ask.run.ns; });  // below 0: unknown
  field("estimate_ns", [](const QueuedJob& j) { return j.estimate.run.ns; });
  field("estimate_first_ns", [](const QueuedJob& j) { return j.estimate.first.ns; });
  field("corrections", [](const QueuedJob& j) { return j.estimate.corrections; });
  field("started_ns", [](const QueuedJob& j) { return j.progress.started.ns; });
  field("expected_end_ns", [](const QueuedJob& j) { return j.progress.expected_end.ns; });
  field("is_running", [](const QueuedJob& j) { return j.is_running(); });
  field("run_ns", [](const QueuedJob& j) { return j.run.ns; });  // valid once the job is over
  job.def_property_readonly("executed_ns",
                            [](const JobRef& j) { return j.get().executed_by(j.board->now()).ns; })
      .def_property_readonly("left_ns",  // estimated compute that remains
                             [](const JobRef& j) { return j.get().left(j.board->now()).ns; })
      .def_property_readonly("user",
                             [](const JobRef& j) { return j.board->user_name(j.get().user); })
      .def_property_readonly("team",
                             [](const JobRef& j) { return j.board->team_name(j.get().team); })
      .def_property_readonly(
          "application",
          [](const JobRef& j) { return j.board->application_name(j.get().application); })
      .def("__eq__",
           [](const JobRef& a, const py::object& b) {
             return py::isinstance<JobRef>(b) && b.cast<JobRef>().serial == a.serial;
           })
      .def("__hash__", [](const JobRef& j) { return static_cast<int64_t>(j.serial); });
  py::class_<News>(m, "News")
      .def_readonly("arrived", &News::arrived)
      .def_readonly("has_room", &News::has_room)
      .def_readonly("has_longer", &News::has_longer);
}

// Starts a waiting job. Returns false if an Admit rejected the job, which is now held. Starting a
// job that does not fit, or does not wait, is an error.
bool start(const BoardRef& b, const JobRef& job, const py::object& nodes) {
  expect(job.get().state == QueuedState::Waiting, job, "only a waiting job starts");
  expect(b.board->fits(job.get()), job, "it does not fit now");
  if (nodes.is_none()) return b.board->start(job.get().slot);
  expect(b.board->chooses_nodes(), job,
         "nodes can be chosen only if jobs have pods and the plugin NodeAffinity is enabled");
  const ClusterState& cluster = b.board->cluster();
  NodeSet chosen{cluster.nodes()};
  for (const py::handle node : nodes) {
    chosen.insert(checked_node(cluster, node.cast<int64_t>()));
  }
  expect(!chosen.empty(), job, "it is started on no node");
  return b.board->start_on(job.get().slot, chosen);
}

bool cancel(const BoardRef& b, const JobRef& job) { return b.board->cancel(job.get().slot); }

bool start_beside(const BoardRef& b, const JobRef& job, const JobRef& host) {
  expect(b.board->has_paces(), job, "jobs run beside others with driver: counting only");
  expect(job.get().state == QueuedState::Waiting, job, "only a waiting job starts");
  const QueuedJob& other = host.get();
  expect(other.is_running() && !other.is_over && other.partner == kNoJob, host,
         "a host runs and has no partner");
  expect(other.ask.request == job.get().ask.request, job, "partners ask for the same");
  return b.board->start_beside(job.get().slot, other.slot);
}

void set_pace(const BoardRef& b, const JobRef& job, int64_t millionths) {
  expect(b.board->has_paces(), job, "jobs have paces with driver: counting only");
  if (millionths <= 0) throw py::value_error("a pace is above 0");
  b.board->set_pace(job.get().slot, Pace::of_millionths(millionths));
}

void wake_at(const BoardRef& b, int64_t when_ns) {
  if (when_ns < b.board->now().ns) throw py::value_error("wake_at() names a time that is over");
  b.board->wake_at({when_ns});
}

py::list parts_of(const BoardRef& b) {
  py::list parts;  // (model of the GPUs, count)
  for (const PoolPart& part : b.board->parts())
    parts.append(py::make_tuple(part.model, part.count));
  return parts;
}

void bind_board(py::module_& m) {
  py::class_<BoardRef>(m, "Board")
      .def_property_readonly("now_ns", [](const BoardRef& b) { return b.board->now().ns; })
      .def_property_readonly("capacity", [](const BoardRef& b) { return b.board->capacity(); })
      .def_property_readonly("unit", [](const BoardRef& b) { return b.board->unit(); })
      .def_property_readonly("free", [](const BoardRef& b) { return b.board->free(); })
      .def_property_readonly("capacities",
                             [](const BoardRef& b) { return amounts(b.board->capacities()); })
      .def_property_readonly("parts", parts_of)
      .def_property_readonly("has_paces", [](const BoardRef& b) { return b.board->has_paces(); })
      .def_property_readonly("waiting",
                             [](const BoardRef& b) {
                               return Tree{b.board, Whose::Waiting};
                             })
      .def_property_readonly("running",
                             [](const BoardRef& b) {
                               return Tree{b.board, Whose::Running};
                             })
      .def("tree",  // an empty tree, which the policy fills
           [](const BoardRef& b) {
             return Tree{b.board, Whose::Own, std::make_shared<JobTree>()};
           })
      .def_property_readonly("seed", [](const BoardRef& b) { return b.board->seed(); })
      .def_property_readonly("used", [](const BoardRef& b) { return amounts(b.board->used()); })
      .def_property_readonly("chooses_nodes",
                             [](const BoardRef& b) { return b.board->chooses_nodes(); })
      .def("has_user", [](const BoardRef& b, const std::string& s) { return b.board->has_user(s); })
      .def("has_team", [](const BoardRef& b, const std::string& s) { return b.board->has_team(s); })
      .def("has_application",
           [](const BoardRef& b, const std::string& s) { return b.board->has_application(s); })
      .def("setup_ns",  // time before the work begins, if the job starts now
           [](const BoardRef& b, const JobRef& job) { return b.board->setup(job.get().slot).ns; })
      .def("rng", [](const BoardRef& b, const std::string& s) { return b.board->rng(s); })
      .def("fits", [](const BoardRef& b, const JobRef& job) { return b.board->fits(job.get()); })
      .def("head",
           [](const BoardRef& b) -> py::object {
             const JobSlot head = b.board->head();
             if (head == kNoJob) return py::none();
             return py::cast(job_of(b.board, head));
           })
      .def("start", start, py::arg("job"), py::arg("nodes") = py::none())
      .def("cancel", cancel)
      .def("start_beside", start_beside)
      .def("stop",
           [](const BoardRef& b, const JobRef& job) { return b.board->stop(job.get().slot); })
      .def("set_pace", set_pace, py::arg("job"), py::arg("millionths"))
      .def("wake_at", wake_at, py::arg("when_ns"));
}

}  // namespace

const QueuedJob& JobRef::get() const {
  const QueuedJob& job = board->job(slot);
  if (job.serial != serial) {
    throw std::runtime_error{"job " + std::to_string(serial) + " is over, and no longer known"};
  }
  return job;
}

JobRef job_of(const Lent<JobBoard>& board, JobSlot slot) {
  return {.board = board, .slot = slot, .serial = board->job(slot).serial};
}

void bind_job_views(py::module_& m) {
  bind_tree(m);
  bind_job(m);
  bind_board(m);
}

}  // namespace orrery::python

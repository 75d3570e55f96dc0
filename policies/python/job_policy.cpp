// policies/python/job_policy.cpp -- a policy of the job queue whose extension points are Python
// methods, and the registry entry for all Python policies.
#include <pybind11/embed.h>

#include <limits>
#include <memory>
#include <string>

#include "models/scheduling/contract/policy_registry.hpp"
#include "policies/python/answers.hpp"
#include "policies/python/controller_policy.hpp"
#include "policies/python/job_views.hpp"
#include "policies/python/pod_policy.hpp"
#include "sim/core/shared_files.hpp"

namespace orrery::python {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

class JobPolicy final : public Policy,
                        public QueueOrder,
                        public Admit,
                        public Plan,
                        public JobWatcher {
 public:
  JobPolicy(JobBoard& board, const RawParams& args) : board_{board}, cluster_{board.cluster()} {
    start_interpreter();
    in_python([&] {
      py::dict lent;
      lent["board"] = BoardRef{board_};
      lent["nodes"] = std::make_unique<Nodes>(cluster_);
      instance_ = std::make_unique<Instance>(args, lent);
    });
    watches_ = has_any_of({"job_waits", "job_leaves", "job_starts", "job_end_moves", "job_stops",
                           "job_ends", "job_cancelled"});
    in_python([&] { plans_without_waiting_ = instance_->is_set("plans_without_waiting"); });
  }
  ~JobPolicy() override {
    board_.take_back();
    cluster_.take_back();
  }
  JobPolicy(const JobPolicy&) = delete;
  JobPolicy& operator=(const JobPolicy&) = delete;

  int64_t rank(const QueuedJob& job) override {
    return in_python([&] {
      return integer_from({*instance_, "rank"}, asked("rank", job), kLeast, kMost);
    });
  }
  Duration valid_for() const override {
    constexpr std::string_view kName = "rank_valid_for";
    if (!instance_->has(kName)) return Duration::max();
    return in_python([&] {
      return Duration{integer_from({*instance_, kName}, instance_->call(kName), 1, kMost)};
    });
  }
  bool admit(const QueuedJob& job) const override {
    return in_python([&] { return bool_from({*instance_, "admit"}, asked("admit", job)); });
  }
  void plan(const PlanNews& news) override {
    in_python([&] {
      News given{.arrived = {}, .has_room = news.has_room, .has_longer = news.has_longer};
      for (const JobSlot slot : news.arrived) given.arrived.push_back(job_of(board_, slot));
      instance_->call("plan", std::move(given));
    });
  }
  Time reserved_start(JobSlot job) const override {
    constexpr std::string_view kName = "reserved_start";
    if (!instance_->has(kName)) return Time::max();
    return in_python([&] {
      const py::object given = instance_->call(kName, job_of(board_, job));
      return Time{integer_or_none({*instance_, kName}, given, 0, kMost).value_or(kMost)};
    });
  }
  void job_waits(const QueuedJob& job) override { tell("job_waits", job); }
  void job_leaves(const QueuedJob& job) override { tell("job_leaves", job); }
  void job_starts(const QueuedJob& job) override { tell("job_starts", job); }
  void job_end_moves(const QueuedJob& job) override { tell("job_end_moves", job); }
  void job_stops(const QueuedJob& job) override { tell("job_stops", job); }
  void job_ends(const QueuedJob& job) override { tell("job_ends", job); }
  void job_cancelled(const QueuedJob& job) override { tell("job_cancelled", job); }
  void node_goes(NodeId node) override { tell("node_goes", node); }
  void node_comes(NodeId node) override { tell("node_comes", node); }
  bool plans_without_waiting() const override { return plans_without_waiting_; }
  std::vector<std::string> named_in_vain() const override {
    constexpr std::string_view kName = "named_in_vain";
    if (!instance_->has(kName)) return {};
    return in_python([&] { return texts_from({*instance_, kName}, instance_->call(kName)); });
  }

 private:
  py::object asked(std::string_view method, const QueuedJob& job) const {
    return instance_->call(method, job_of(board_, job.slot));
  }
  void tell(std::string_view method, const QueuedJob& job) const {
    if (!watches_ || !instance_->has(method)) return;
    in_python([&] { static_cast<void>(asked(method, job)); });
  }
  void tell(std::string_view method, NodeId node) const {
    if (!instance_->has(method)) return;
    in_python([&] { instance_->call(method, node.index); });
  }
  bool has_any_of(std::initializer_list<std::string_view> methods) const {
    return std::ranges::any_of(methods, [this](auto method) { return instance_->has(method); });
  }

  const Lent<JobBoard> board_;
  const Lent<const ClusterState> cluster_;
  std::unique_ptr<Instance> instance_;
  bool watches_ = false, plans_without_waiting_ = false;
};

void check(const RawParams& args, const std::string& path, Diagnostics& diagnostics) {
  const size_t mistakes = diagnostics.count();
  static_cast<void>(params_of(args, path, diagnostics));
  if (diagnostics.count() > mistakes) return;
  try {
    PolicyClass{args}.check(args, path, diagnostics);
  } catch (const std::runtime_error& error) {
    diagnostics.error(args.node["file"].position, path + ".file",
                      file_of(args) + " " + error.what());
  }
}

std::vector<std::string> points(const RawParams& args) {
  try {
    return PolicyClass{args}.points();
  } catch (const std::runtime_error&) {
    return {};
  }
}

Traits traits(const RawParams& args) {
  try {
    return PolicyClass{args}.is_set("scales_pools") ? Trait::ScalesPools : Trait::None;
  } catch (const std::runtime_error&) {
    return Trait::None;
  }
}

std::string name_of_code(const RawParams& args) {
  try {
    return PolicyClass{args}.name();
  } catch (const std::runtime_error&) {
    return args.node["class"].text;
  }
}

// Describes a policy class. `code` is its file and its name, such as "mine.py:Mine".
std::pair<std::vector<std::string>, FieldTree> describe_code(const std::string& code) {
  PythonParams params;
  const size_t colon = code.rfind(':');
  params.file = code.substr(0, colon);
  if (colon != std::string::npos) params.class_name = code.substr(colon + 1);
  const PolicyClass found{params};
  return {found.points(), found.describe()};
}

template <class P, class Lender>
std::unique_ptr<Policy> make(Lender& lender, const RawParams& args) {
  auto policy = std::make_unique<P>(lender, args);
  for (const std::string& file : PolicyClass{args}.files()) InputFiles::note(file);
  return policy;
}

struct Registration {
  Registration() {
    PolicyRegistry::Entry entry;
    entry.make = make<PodPolicy, Handle>;
    entry.make_for_jobs = make<JobPolicy, JobBoard>;
    entry.make_controller = make<ControllerPolicy, const ControlBoard>;
    entry.check = check;
    entry.describe = [] { return describe_params<PythonParams>(); };
    entry.doc = "A class in a Python file; see analysis/orrery/policy.py.";
    const auto add = [&]<class P>() { entry.points.emplace_back(P::kPoint.name); };
    PodPoints::for_each(add);
    JobPoints::for_each(add);
    ControllerPoints::for_each(add);
    entry.points_of_code = points;
    entry.traits_of_code = traits;
    entry.describe_code = describe_code;
    entry.name_of_code = name_of_code;
    entry.traits = Trait::NeedsProcess;
    PolicyRegistry::instance().add(kPolicyAbiVersion, "Python", entry);
  }
};
const Registration registration;

PYBIND11_EMBEDDED_MODULE(orrery_views, m) {
  bind_pod_views(m);
  bind_job_views(m);
  bind_control_views(m);
}

}  // namespace
}  // namespace orrery::python

ORRERY_POLICY_LIBRARY();

// Runs the cases of data/coscheduling.json. In each case, the test plays the scheduling framework:
// it calls the extension points of one policy step by step.
#include <gtest/gtest.h>

#include <fstream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/fake_handle.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;

class Stage {
 public:
  explicit Stage(const Json& row) {
    for (const Json& cpu : row.value("nodes", Json::array({8, 8}))) {
      Resources has;
      has[Resource::Cpu] = cpu.get<int64_t>() * kMilli;
      has[Resource::Memory] = int64_t{1} << 40;
      handle.add_node(has);
    }
    handle.state.seal();
    policy = make_policy(handle, row.value("policy", "Coscheduling"),
                         row.value("args", Json::object()).dump());
    for (const Json& gang : row["gangs"]) add_gang(gang);
    for (const Json& pod : row["pods"]) add_pod(pod);
    handle.on_reject = [this](PodId pod) {
      leave(handle.pod(pod));
      as<Reserve>(policy).unreserve(handle.pod(pod), {0});
    };
  }

  void take(const Json& step) {
    handle.allowed.clear();
    handle.rejected.clear();
    handle.activated.clear();
    const auto verb = step["do"].get<std::string>();
    Code code = Code::Success;
    if (verb == "pass_ms") {
      handle.clock = handle.clock + 1_ms * step["ms"].get<int64_t>();
    } else if (verb == "less") {
      compare(step);
    } else if (verb == "feed") {
      check(step, "next", indices(fed()));
    } else {
      const PodView pod = handle.pods[step["pod"].get<size_t>()];
      code = call(verb, step, pod);
      if (step.contains("failed_at")) {
        check(step, "failed_at", handle.gang(pod.gang).last_failure.ns);
      }
    }
    check(step, "status", name_of(code));
    check(step, "allowed", indices(handle.allowed));
    check(step, "rejected", indices(handle.rejected));
    check(step, "activated", indices(handle.activated));
  }

  std::string ours, theirs;  // all results that steps checked, ours and the expected ones

 private:
  // Calls NextPod until it returns no pod, and returns all pods that it returned.
  std::vector<PodId> fed() {
    std::vector<PodId> pods;
    NextPod& feeder = as<NextPod>(policy);
    for (PodId pod = feeder.next(); pod.is_valid(); pod = feeder.next()) pods.push_back(pod);
    return pods;
  }
  // PreFilter begins a new attempt of the pod. Later extension points continue this attempt.
  CycleState& attempt_of(const PodView& pod, bool begins) {
    CycleState*& state = attempts_[pod.id];
    if (begins || state == nullptr) state = &handle.new_attempt();
    return *state;
  }
  void place(const PodView& pod, NodeId node) {
    if (!handle.placements().node_of(pod.id).is_valid()) handle.place(pod, node);
  }
  void leave(const PodView& pod) {
    if (handle.placements().node_of(pod.id).is_valid()) handle.leave(pod);
  }
  Code call(const std::string& verb, const Json& step, const PodView& pod) {
    const Cycle cycle = FakeHandle::cycle(handle, pod, attempt_of(pod, verb == "pre_filter"));
    NodeSet nodes = NodeSet::all(handle.state.nodes());
    if (verb == "pre_enqueue") return as<PreEnqueue>(policy).pre_enqueue(pod).code;
    if (verb == "create") {
      ++handle.gangs[pod.gang].created;
      return Code::Success;
    }
    if (verb == "post_bind") {
      as<PostBind>(policy).post_bind(pod, {0});
      return Code::Success;
    }
    if (verb == "time_out") {
      handle.reject_waiting(pod.id, "timed out");
      std::erase(handle.rejected, pod.id);  // the framework rejects this pod, not the policy
      return Code::Success;
    }
    if (verb == "pre_filter") return as<PreFilter>(policy).pre_filter(cycle, nodes).code;
    if (verb == "post_filter") {
      const Candidates none{NodeSet{handle.state.nodes()}};
      return as<PostFilter>(policy).post_filter(cycle, {none, "", 0}).code;
    }
    if (verb == "reserve") {
      const NodeId node{step["node"].get<uint32_t>()};
      handle.occupy(node, *pod.spec);
      place(pod, node);
      return as<Reserve>(policy).reserve(cycle, node).code;
    }
    EXPECT_EQ(verb, "permit");
    place(pod, {0});
    EXPECT_TRUE(as<Reserve>(policy).reserve(cycle, {0}).ok());
    const PermitStatus status = as<Permit>(policy).permit(cycle, {0});
    check(step, "timeout_s", status.timeout / 1_s);
    if (status.code == Code::Wait) handle.wait(pod);
    return status.code;
  }
  void compare(const Json& step) {
    std::vector<QueuedUnit> units;
    for (const Json& row : step["units"]) {
      QueuedUnit unit{};
      unit.gang = gang_of(row["gang"]);
      unit.priority = row["priority"].get<int32_t>();
      unit.gang_created = Time{row["created"].get<int64_t>()};
      unit.gang_failed = Time{row.value("failed", int64_t{-1})};
      units.push_back(unit);
    }
    const bool is_first = as<QueueSort>(policy).less(units[0], units[1]);
    check(step, "first", is_first ? 0 : 1);
    EXPECT_NE(is_first, as<QueueSort>(policy).less(units[1], units[0]));
  }
  static Json indices(const std::vector<PodId>& pods) {
    Json list = Json::array();
    for (const PodId pod : pods) list.push_back(pod.index);
    return list;
  }
  // Compares `got` with the step's entry `key`, if there is one.
  void check(const Json& step, const char* key, const Json& got) {
    if (!step.contains(key)) return;
    EXPECT_EQ(got, step[key]) << key;
    const std::string what = (ours.empty() ? "" : ", ") + std::string{key} + " ";
    ours += what + text_of(got);
    theirs += what + text_of(step[key]);
  }
  static std::string text_of(const Json& answer) {
    return answer.is_string() ? answer.get<std::string>() : answer.dump();
  }
  void add_gang(const Json& row) {
    GangView gang{};
    gang.id = GangId{static_cast<uint32_t>(names_.size())};
    gang.job = JobId{row.value("job", gang.id.index)};
    gang.name = names_.emplace_back(row["name"].get<std::string>());
    gang.min_available = row.value("min", 1);
    gang.created = row.value("created", 1);
    gang.pods = row.value("pods", gang.created);
    gang.gated = row.value("gated", 0);
    gang.bound = row.value("bound", 0);
    gang.binding = row.value("binding", 0);
    if (row.contains("min_cpu")) {
      Resources& least = min_resources_.emplace_back();
      least[Resource::Cpu] = row["min_cpu"].get<int64_t>() * kMilli;
      gang.min_resources = &least;
    }
    handle.add_gang(gang);
    join_siblings(gang.id);
  }
  // Sets first_of_job and gangs_of_job of all gangs in the job of `last`. Gangs of one job have
  // consecutive ids.
  void join_siblings(GangId last) {
    GangId first = last;
    while (first.index > 0 && handle.gangs[{first.index - 1}].job == handle.gangs[last].job) {
      --first.index;
    }
    for (uint32_t i = first.index; i <= last.index; ++i) {
      handle.gangs[{i}].first_of_job = first;
      handle.gangs[{i}].gangs_of_job = static_cast<int32_t>(last.index - first.index) + 1;
    }
  }
  void add_pod(const Json& row) {
    PodSpec spec;
    spec.cpu_milli = row.value("cpu", int64_t{0}) * kMilli;
    const PodView pod = handle.add_pod(spec, {0}, gang_of(row["gang"]));
    if (const auto gang = handle.gangs.find(pod.gang);
        gang != handle.gangs.end() && !gang->second.first.is_valid()) {
      gang->second.first = pod.id;
    }
    if (row.value("waiting", false)) handle.wait(pod);
  }
  GangId gang_of(const Json& name) const {
    if (name.is_null()) return {};
    for (const auto& [id, gang] : handle.gangs) {
      if (gang.name == name.get<std::string>()) return id;
    }
    return GangId{1000};  // for a name that no gang has
  }

  FakeHandle handle;
  std::unique_ptr<Policy> policy;
  std::map<PodId, CycleState*> attempts_;
  std::list<std::string> names_;  // GangViews point at them
  std::list<Resources> min_resources_;
};

TEST(CoschedulingConformance, EveryAnswerIsTheOneThePluginGives) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/coscheduling.json"};
  size_t cases = 0;
  const Json data = Json::parse(file);
  for (const Json& row : data.at("cases")) {
    const auto id = row["id"].get<std::string>();
    SCOPED_TRACE(id + ": " + row["source"].get<std::string>());
    Stage stage{row};
    for (const Json& step : row["steps"]) {
      SCOPED_TRACE(step.dump());
      stage.take(step);
    }
    EXPECT_FALSE(stage.theirs.empty()) << "a case without an expectation";
    test::report({.id = id}, stage.ours, stage.theirs);
    ++cases;
  }
  EXPECT_EQ(cases, 25u + 16u) << "a case was lost or added: say so here";
}

}  // namespace
}  // namespace orrery

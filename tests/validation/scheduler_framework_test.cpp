// Runs data/scheduler_framework.json: one pod through the real scheduler, with plugins that record
// their calls. Also tests failed bindings.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "models/scheduling/contract/policy_registry.hpp"
#include "tests/support/report.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;

std::vector<std::string>& calls() {
  static std::vector<std::string> made;
  return made;
}

template <char kLetter>
class Probe final : public Policy, public Reserve, public Permit {
 public:
  struct Params {
    bool refuses = false;
    int64_t wait_s = 0;
    template <class V>
    void fields(V& v) {
      v("refuses", refuses, "Whether Reserve says no.");
      v("wait_s", wait_s, "How long Permit waits; 0: not at all.");
    }
  };
  Probe(Handle& /*handle*/, const Params& params) : params_{params} {}

  Status reserve(const Cycle& /*cycle*/, NodeId /*node*/) override {
    note("reserve ");
    return params_.refuses ? Status{Code::Unschedulable, "refused"} : Status{};
  }
  void unreserve(const PodView& /*pod*/, NodeId /*node*/) override { note("unreserve "); }
  PermitStatus permit(const Cycle& /*cycle*/, NodeId /*node*/) override {
    note("permit ");
    if (params_.wait_s == 0) return {};
    return {Code::Wait, 1_s * params_.wait_s, "waits"};
  }

 private:
  static void note(std::string what) { calls().push_back(what += kLetter); }
  const Params params_;
};
const PolicyRegistrar<Probe<'A'>> kProbeA{"ProbeA", "Tells what is asked of it."};
const PolicyRegistrar<Probe<'B'>> kProbeB{"ProbeB", "Tells what is asked of it."};
const PolicyRegistrar<Probe<'C'>> kProbeC{"ProbeC", "Tells what is asked of it."};

ProfileParams profile_with(const Json& plugins) {
  std::string yaml = R"({"base": "default", "plugins": )" + plugins.dump() + "}";
  Diagnostics diagnostics;
  const auto document = config::load_text(yaml, "profile.yaml", diagnostics);
  ProfileParams profile = read_params<ProfileParams>(document.root, "policy", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return without_cost(std::move(profile));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Time seconds(double s) { return Time{static_cast<int64_t>(s * 1e9)}; }

TEST(SchedulerFramework, PluginsAreAskedInUpstreamsOrder) {
  std::ifstream file{ORRERY_SOURCE_DIR "/tests/validation/data/scheduler_framework.json"};
  const Json document = Json::parse(file);
  for (const Json& row : document["cases"]) {
    const auto id = row["id"].get<std::string>();
    SCOPED_TRACE(id);
    calls().clear();
    SchedulerWorld world{{1}, profile_with(row["plugins"])};
    world.add({make_job(JobKind::Pods, 1, 1, 10_h)});
    world.run(seconds(row["until_s"].get<double>()));
    const auto expected = row["calls"].get<std::vector<std::string>>();
    test::report({.id = id, .figure = "calls"}, listed(calls()), listed(expected));
    EXPECT_EQ(calls(), expected);
    const auto attempts = world.attempts();
    const auto timed_out =
        std::ranges::find(attempts, AttemptOutcome::TimedOut, &AttemptRow::outcome);
    EXPECT_EQ(timed_out != attempts.end(), row.contains("timed_out_s"));
    if (timed_out != attempts.end()) {
      test::report({.id = id, .figure = "timed out, s"}, timed_out->at.seconds(),
                   row.value("timed_out_s", -1.0));
      EXPECT_EQ(timed_out->at, seconds(row["timed_out_s"].get<double>()));
    }
    const uint64_t bound = row.contains("bound_s") ? 1 : 0;
    test::report({.id = id, .figure = "pods bound"},
                 static_cast<double>(world.scheduler.counters().pods_scheduled),
                 static_cast<double>(bound));
    EXPECT_EQ(world.scheduler.counters().pods_scheduled, bound);
    EXPECT_EQ(world.cluster.gpu_milli_allocated(), row.contains("bound_s") ? 1000 : 0);
    EXPECT_EQ(world.scheduler.pods_waiting_in_permit(), 0u);
  }
}

// A Bind plugin that always returns an error. After an error, the pod is retried when its backoff
// ends, without waiting for an event. The backoffs of case SCH-2 are 1, 2, 4, 8, 10 and 10 s.
class NeverBinds final : public Policy, public Bind {
 public:
  using Params = NoParams;
  NeverBinds(Handle& /*handle*/, const Params& /*params*/) {}
  Status bind(const PodView& /*pod*/, NodeId /*node*/) override { return {Code::Error, "no"}; }
};
const PolicyRegistrar<NeverBinds> kNeverBinds{"NeverBinds", "Fails every binding."};

TEST(SchedulerFramework, FailedBindingsAreRetriedWithGrowingBackoff) {
  SchedulerWorld world{{1}, without_cost(profile_of(ProfileBase::Default, {"NeverBinds"}))};
  world.add({make_job(JobKind::Pods, 1, 1, 10_h)});
  world.run(Time{} + 40_s);
  std::vector<int64_t> at;
  for (const AttemptRow& row : world.attempts()) {
    if (row.outcome == AttemptOutcome::Error) at.push_back(row.at.ns / 1'000'000'000);
  }
  EXPECT_EQ(at, (std::vector<int64_t>{0, 1, 3, 7, 15, 25, 35}));
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
}

TEST(SchedulerFramework, AGangWhoseBindingsFailStandsInLineOnce) {
  SchedulerWorld world{{4}, without_cost(profile_of(ProfileBase::StrictGang, {"NeverBinds"}))};
  world.add({make_job(JobKind::MpiGang, 4, 1, 10_h)});
  world.run(Time{} + 40_s);
  EXPECT_EQ(world.scheduler.counters().pods_scheduled, 0u);
  EXPECT_EQ(world.scheduler.pods_pending(), 4u);
  EXPECT_EQ(world.scheduler.counters().attempts, 7u);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
}

}  // namespace
}  // namespace orrery

// CycleState of interleaved attempts, commands of policies, GangMap, and scores of placements.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/scheduling/framework/framework.hpp"
#include "models/scheduling/toolbox/fragmentation.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

ProfileParams profile_with(ProfileBase base, std::vector<PluginParams> plugins) {
  ProfileParams profile;
  profile.base = base;
  profile.plugins = std::move(plugins);
  return profile;
}
PluginParams plugin_named(std::string name, std::optional<int64_t> weight = std::nullopt) {
  PluginParams plugin;
  plugin.name = std::move(name);
  plugin.weight = weight;
  return plugin;
}

// ---- attempts

// Nodes of several kinds, with pods on some of them and NICs that count errors.
class MixedCluster {
 public:
  static constexpr uint32_t kNodes = 40, kLeaves = 6;
  static constexpr std::string_view kColours[] = {"red", "blue", "green"};

  explicit MixedCluster(uint64_t seed) : none{kNodes}, random_{seed} {
    for (uint32_t i = 0; i < kNodes; ++i) {
      Resources has;
      has[Resource::Cpu] = 16'000 * pick(1, 4);
      has[Resource::Memory] = int64_t{1} << 37;
      has[Resource::Gpu] = kMilli * pick(0, 8);
      handle.add_node(has, i % kLeaves, {{"half", i % 2 == 0 ? "even" : "odd"}});
      if (pick(0, 9) == 0) handle.symbol_errors.push_back({.node = {i}, .per_hour = 1e6});
    }
    handle.state.seal();
    for (uint32_t i = 0; i < kNodes; ++i) {
      if (pick(0, 9) == 0) handle.state.set_up({i}, false);
      if (pick(0, 9) == 0) handle.state.set_cordoned({i}, true);
      if (pick(0, 4) == 0) handle.state.set_taint({i}, {"busy", "", TaintEffect::NoSchedule}, true);
    }
    const std::vector<TypicalPod> typical = {
        {.cpu_milli = 4'000, .gpus = 1, .gpu_milli = 500, .required_terms = {}},
        {.cpu_milli = 8'000, .gpus = 2, .required_terms = {}}};
    measure_ = std::make_unique<Fragmentation>(handle.state, typical);
    handle.measure = measure_.get();
    for (int i = 0; i < 16; ++i) specs_.push_back(random_spec());
    for (int i = 0; i < 60; ++i) settle(new_pod());
  }

  int pick(int least, int most) {
    return least + static_cast<int>(random_.next() % static_cast<uint64_t>(most - least + 1));
  }
  // Adds a pod, and returns it. With probability 1/2 it is the first member of a new gang of two.
  PodView new_pod() {
    const PodSpec& spec = specs_[static_cast<size_t>(pick(0, 15))];
    const JobId job{static_cast<uint32_t>(pick(0, 5))};
    if (pick(0, 1) == 0) return handle.add_pod(spec, job);
    GangView gang;
    gang.id = gang.first_of_job = {static_cast<uint32_t>(handle.gangs.size())};
    gang.job = job;
    gang.gangs_of_job = 1;
    gang.first = {static_cast<uint32_t>(handle.pods.size())};
    gang.pods = gang.created = 2;
    gang.min_available = pick(1, 3);  // with 3, the gang has too few pods
    gang.name = names_.emplace_back(std::to_string(gang.id.index));
    handle.add_gang(gang);
    const PodView member = handle.add_pod(spec, job, gang.id);
    handle.add_pod(spec, job, gang.id);
    return member;
  }
  // Places the pod on a random node, if that node has room.
  void settle(const PodView& pod) {
    const NodeId node{static_cast<uint32_t>(pick(0, kNodes - 1))};
    int32_t usable = 0;
    for (uint32_t gpu = 0; gpu < handle.state.gpus(node); ++gpu) {
      usable += handle.state.gpu_left_milli(node, gpu) >= pod.spec->gpu_milli ? 1 : 0;
    }
    if (usable < pod.spec->gpus || !handle.state.up().contains(node)) return;
    if (handle.state.free(node, Resource::Cpu) < pod.spec->cpu_milli) return;
    handle.occupy(node, *pod.spec);
    handle.place(pod, node);
  }

  FakeHandle handle;
  const Nominations none;

 private:
  std::vector<NodeLabel> colour() { return {{"colour", std::string{kColours[pick(0, 2)]}}}; }
  PodSpec random_spec() {
    PodSpec spec;
    spec.cpu_milli = 1'000 * pick(0, 8);
    spec.gpus = pick(0, 4);
    if (spec.gpus == 1) spec.gpu_milli = 250 * pick(1, 4);
    spec.priority = pick(0, 2);
    if (pick(0, 1) == 0) spec.tolerations.push_back({"busy", TolerationOperator::Exists, ""});
    if (pick(0, 3) == 0) spec.required_terms = {{{{"half", SelectorOperator::In, {"even"}}}}};
    if (pick(0, 3) == 0) spec.preferred_terms = {{5, {{{"half", SelectorOperator::In, {"odd"}}}}}};
    if (pick(0, 3) > 0) spec.labels = colour();
    if (pick(0, 5) == 0) spec.affinity.push_back({PodTopology::Leaf, colour()});
    if (pick(0, 4) == 0) spec.anti_affinity.push_back({PodTopology::Hostname, colour()});
    if (pick(0, 3) == 0) spec.topology_spread.push_back({1, PodTopology::Leaf, true, colour()});
    if (pick(0, 3) == 0) spec.topology_spread.push_back({2, PodTopology::Hostname, false, {}});
    if (pick(0, 3) == 0) spec.images = {{"trainer", int64_t{1} << 30}};
    return spec;
  }

  Rng random_;
  std::deque<std::string> names_;  // names of gangs
  std::vector<PodSpec> specs_;
  std::unique_ptr<Fragmentation> measure_;
};

// One attempt of a pod, one extension point at a time. Other attempts may run in between.
class SplitAttempt {
 public:
  SplitAttempt(Framework& framework, const MixedCluster& cluster, const PodView& pod)
      : framework_{framework},
        pod_{pod},
        state_(framework.new_attempt()),
        cycle_{cluster.handle.clock, cluster.handle.state, pod_, state_} {
    if (!pod.gang.is_valid()) return;
    const auto domains = framework.domains(cycle_, cluster.handle.gang(pod.gang));
    if (!domains.empty()) domain_ = nodes_of(domains.front(), cluster.handle.state);
  }
  void pre_filter() { goes_on_ = framework_.run_pre_filter(cycle_, domain(), found_); }
  void filter() { goes_on_ = goes_on_ && framework_.run_filter(cycle_, found_); }
  void score() {
    if (goes_on_) framework_.run_score(cycle_, found_);
  }
  std::string outcome() const {
    std::string text =
        "node " + std::to_string(found_.node.index) + ", " + std::string{name_of(found_.code)} +
        " " + found_.reason + ", plugins " + std::to_string(found_.plugins) + ", visited " +
        std::to_string(found_.visited) + ", feasible " + std::to_string(found_.feasible) +
        ", charge " + std::to_string(framework_.charge(cycle_).ns) + ", ";
    return text + framework_.message(framework_.diagnose(cycle_, domain(), false));
  }
  bool has_node() const { return found_.node.is_valid(); }

 private:
  const NodeSet* domain() const { return domain_ ? &*domain_ : nullptr; }

  Framework& framework_;
  const PodView pod_;
  CycleState state_;
  const Cycle cycle_;
  std::optional<NodeSet> domain_;
  Selection found_;
  bool goes_on_ = false;
};

// Attempts must have equal results whether they are interleaved or made one after another. Both
// frameworks begin without cached results.
void expect_interleaving_to_change_nothing(const ProfileParams& profile, uint64_t seed) {
  MixedCluster cluster{seed};
  Framework interleaved{cluster.handle, cluster.none, profile};
  Framework in_turn{cluster.handle, cluster.none, profile};
  for (int pair = 0; pair < 12; ++pair) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", pair " << pair);
    const PodView first = cluster.new_pod(), second = cluster.new_pod();
    SplitAttempt a{interleaved, cluster, first}, b{interleaved, cluster, second};
    a.pre_filter(), b.pre_filter();
    a.filter(), b.filter();
    a.score(), b.score();
    SplitAttempt alone{in_turn, cluster, first};
    alone.pre_filter(), alone.filter(), alone.score();
    SplitAttempt after{in_turn, cluster, second};
    after.pre_filter(), after.filter(), after.score();
    ASSERT_EQ(a.outcome(), alone.outcome());
    ASSERT_EQ(b.outcome(), after.outcome());
    cluster.settle(first);
    cluster.settle(second);
  }
}

TEST(CycleState, InterleavedAttemptsDecideAsAttemptsOneAfterTheOther) {
  for (const auto& [name, entry] : PolicyRegistry::instance().entries()) {
    if (entry.make == nullptr || !entry.is_built_in()) continue;
    SCOPED_TRACE(name);
    const bool is_of_gangs =
        entry.serves(Domains::kPoint, {}) || entry.serves(ScorePlacement::kPoint, {});
    ProfileParams profile = profile_with(
        is_of_gangs ? ProfileBase::StrictGang : ProfileBase::Default, {plugin_named(name)});
    for (const TieBreak tie_break : {TieBreak::LowestId, TieBreak::Random}) {
      profile.tie_break = tie_break;
      for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 1 : 4); ++seed) {
        expect_interleaving_to_change_nothing(profile, seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CycleState, SomeOfThesePodsFindANodeAndSomeDoNot) {
  MixedCluster cluster{1};
  Framework framework{cluster.handle, cluster.none,
                      profile_with(ProfileBase::Coscheduling, {plugin_named("InterPodAffinity")})};
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    SplitAttempt attempt{framework, cluster, cluster.new_pod()};
    attempt.pre_filter(), attempt.filter(), attempt.score();
    found += attempt.has_node() ? 1 : 0;
  }
  EXPECT_GT(found, 20);
  EXPECT_LT(found, 100);
}

TEST(CycleState, AStreamDrawsTheSameNumbersInTheSameAttempt) {
  const RngStreams streams{1};
  CycleState first{5, streams}, again{5, streams}, other{6, streams};
  const uint64_t drawn = first.rng("a").next();
  static_cast<void>(again.rng("b").next());
  EXPECT_EQ(again.rng("a").next(), drawn) << "whatever other streams draw";
  EXPECT_NE(other.rng("a").next(), drawn);
  EXPECT_NE(first.rng("a").next(), drawn) << "a stream goes on within its attempt";
}

// ---- commands

std::vector<std::string>& noted() {
  static std::vector<std::string> words;
  return words;
}
std::string with_number(std::string_view what, PodId pod) {
  return std::string{what} + " " + std::to_string(pod.index);
}

class GivesCommands final : public Policy, public PostBind, public Reserve {
 public:
  using Params = NoParams;
  GivesCommands(Handle& handle, const Params& /*params*/) : handle_{handle} {}
  void post_bind(const PodView& /*pod*/, NodeId /*node*/) override {
    noted().emplace_back("begins");
    handle_.reject_waiting({1}, "first");
    handle_.reject_waiting({2}, "second");
    noted().emplace_back("ends");
  }
  Status reserve(const Cycle& /*cycle*/, NodeId /*node*/) override { return {}; }
  void unreserve(const PodView& pod, NodeId /*node*/) override {
    handle_.activate_siblings(pod.id);
    noted().push_back(with_number("unreserved", pod.id));
  }

 private:
  Handle& handle_;
};
const PolicyRegistrar<GivesCommands> kGivesCommands{"GivesCommands", "Asks for several things."};

// Carries out commands and records them. A rejected pod is unreserved.
class NotedCommands final : public SchedulerServices {
 public:
  explicit NotedCommands(const FakeHandle& world) : world_{world} {}
  void carry_out(const PolicyCommand& command, CommandSink& /*later*/) override {
    EXPECT_EQ(framework->name(command.plugin), "GivesCommands");
    if (const auto* const reject = std::get_if<RejectWaiting>(&command.order)) {
      noted().push_back(with_number("rejects", reject->pod) + " " + reject->reason);
      framework->run_unreserve(pod(reject->pod), {0});
      noted().push_back(with_number("rejected", reject->pod));
    } else {
      noted().push_back(with_number("activates", std::get<ActivateSiblings>(command.order).pod));
    }
  }
  Time now() const override { return world_.now(); }
  const ClusterState& cluster() const override { return world_.cluster(); }
  const SpecTable& specs() const override { return world_.specs(); }
  const Placements& placements() const override { return world_.placements(); }
  PodView pod(PodId pod) const override { return world_.pod(pod); }
  GangView gang(GangId gang) const override { return world_.gang(gang); }
  std::span<const PodId> waiting_pods(GangId /*gang*/) const override { return {}; }
  const RngStreams& streams() const override { return world_.streams(); }

  Framework* framework = nullptr;

 private:
  const FakeHandle& world_;
};

TEST(Commands, AreCarriedOutInOrderOnceThePointHasReturned) {
  FakeHandle world;
  world.add_node({});
  world.state.seal();
  for (int i = 0; i < 3; ++i) world.add_pod({});
  const Nominations none{1};
  NotedCommands services{world};
  Framework framework{services, none,
                      profile_with(ProfileBase::Default, {plugin_named("GivesCommands")})};
  services.framework = &framework;
  noted().clear();
  framework.run_post_bind(world.pods[0], {0});
  const std::vector<std::string> expected = {
      "begins",           "ends",         "rejects 1 first", "unreserved 1", "rejected 1",
      "rejects 2 second", "unreserved 2", "rejected 2",      "activates 1",  "activates 2"};
  EXPECT_EQ(noted(), expected) << "what Unreserve asks for follows what was asked for before";
}

// ---- gangs

TEST(GangMap, IsClearedWhenAGangIsOver) {
  FakeHandle handle;
  GangMap<int> map{handle};
  EXPECT_EQ(map.at({3}), 0) << "nothing is known of it";
  map[{3}] = 7;
  map[{4}] = 8;
  handle.gang_over({9});
  EXPECT_EQ(map.at({3}), 7);
  handle.gang_over({3});
  EXPECT_EQ(map.at({3}), 0);
  EXPECT_EQ(map.at({4}), 8);
}

TEST(GangMap, OfAPolicyIsClearedByItsFramework) {
  FakeHandle handle;
  handle.add_node({});
  handle.state.seal();
  GangView gang;
  gang.id = gang.first_of_job = {0};
  gang.gangs_of_job = 1;
  gang.pods = gang.created = gang.min_available = 2;
  handle.add_gang(gang);
  const PodView member = handle.add_pod({}, {0}, {0});
  const Nominations none{1};
  Framework framework{handle, none, profile_with(ProfileBase::Koordinator, {})};
  EXPECT_EQ(framework.run_permit(handle.cycle(member), {0}).code, Code::Wait);
  framework.run_post_bind(member, {0});
  EXPECT_TRUE(framework.run_permit(handle.cycle(member), {0}).ok()) << "once satisfied";
  framework.gang_over({0});
  EXPECT_EQ(framework.run_permit(handle.cycle(member), {0}).code, Code::Wait);
}

class ScoresPlacementsAlike final : public Policy, public ScorePlacement {
 public:
  using Params = NoParams;
  ScoresPlacementsAlike(Handle& /*handle*/, const Params& /*params*/) {}
  int64_t score_placement(const Cycle& /*cycle*/, const GangView& /*gang*/,
                          std::span<const NodeId> /*nodes*/) const override {
    return 40;
  }
};
const PolicyRegistrar<ScoresPlacementsAlike> kScoresPlacementsAlike{"ScoresPlacementsAlike",
                                                                    "40 for each placement."};

TEST(ScorePlacement, WeightsMultiplyScores) {
  FakeHandle handle;
  handle.add_node({});
  handle.state.seal();
  GangView gang;
  gang.id = {0};
  gang.pods = gang.created = gang.min_available = 4;
  handle.add_gang(gang);
  const PodView member = handle.add_pod({}, {0}, {0});
  const Cycle cycle = handle.cycle(member);
  const Nominations none{1};
  const std::vector<NodeId> half(2, NodeId{0});  // 2 of 4 members: a score of 50
  const auto score = [&](std::optional<int64_t> alike, std::optional<int64_t> count) {
    Framework framework{
        handle, none,
        profile_with(ProfileBase::StrictGang, {plugin_named("ScoresPlacementsAlike", alike),
                                               plugin_named("PodGroupPodsCount", count)})};
    return framework.score_placement(cycle, gang, half);
  };
  EXPECT_EQ(score({}, {}), 40 + 50) << "the weight is 1 if none is given";
  EXPECT_EQ(score(3, 2), 3 * 40 + 2 * 50);
}

}  // namespace
}  // namespace orrery

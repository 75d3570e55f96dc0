// Placements compared with a plain recount, and transactions that are undone.
#include "models/scheduling/contract/placements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/scheduling/cycle/transaction.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/fingerprint.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

using GroupMembers = PodGroup::Members;

// 20 nodes below 4 leaves, and random pods to place on them. Each pod belongs to a job, and perhaps
// to a team and to a gang.
class LedgerGround {
 public:
  static constexpr uint32_t kNodes = 20, kLeaves = 4, kJobs = 5, kGangs = 4, kPods = 60;

  explicit LedgerGround(uint64_t seed) : random{seed} {
    Resources has;
    has[Resource::Cpu] = 64'000;
    has[Resource::Memory] = int64_t{1} << 40;
    has[Resource::Gpu] = 8 * kMilli;
    for (uint32_t n = 0; n < kNodes; ++n) handle.add_node(has, n % kLeaves);
    handle.state.seal();
    for (uint32_t i = 0; i < kPods; ++i) {
      PodView pod = handle.add_pod(random_spec(), {below(kJobs)});
      if (random.chance(0.5)) pod.gang = {below(kGangs)};
      pod.team = std::array<std::string_view, 3>{"", "red", "blue"}[below(3)];
      pods.push_back(pod);
    }
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random.below(bound)); }
  NodeId some_node() { return {below(kNodes)}; }

  std::vector<PodGroup> groups() const {
    std::vector<PodGroup> all;
    const std::vector<std::vector<NodeLabel>> labels = {
        {}, {{"a", "0"}}, {{"a", "1"}}, {{"b", "0"}}, {{"a", "0"}, {"b", "0"}}};
    for (const PodTopology key : {PodTopology::Hostname, PodTopology::Leaf}) {
      for (const std::string team : {"", "red", "nobody"}) {
        for (const auto& wanted : labels) {
          all.push_back({key, GroupMembers::Labelled, wanted, team});
          all.push_back({key, GroupMembers::KeepingAway, wanted, team});
        }
        all.push_back({key, GroupMembers::AnyKeepingAway, {}, team});
      }
    }
    return all;
  }
  // The GPUs with the lowest indices that have room for the pod. Empty if the pod does not fit.
  std::optional<DeviceGrant> grant_on(NodeId node, const PodSpec& spec) const {
    DeviceGrant grant{0, spec.gpu_milli};
    int32_t missing = spec.gpus;
    for (uint32_t gpu = 0; missing > 0 && gpu < handle.state.gpus(node); ++gpu) {
      if (handle.state.gpu_left_milli(node, gpu) < spec.gpu_milli) continue;
      grant.gpus = static_cast<GpuMask>(grant.gpus | 1u << gpu);
      --missing;
    }
    if (missing > 0 || handle.state.free(node, Resource::Cpu) < spec.cpu_milli) return {};
    return grant;
  }

  FakeHandle handle;
  Rng random;
  std::vector<PodView> pods;

 private:
  std::vector<NodeLabel> random_labels() {
    std::vector<NodeLabel> labels;
    for (const char* const key : {"a", "b"}) {
      if (random.chance(0.7)) labels.push_back({key, std::to_string(below(2))});
    }
    return labels;
  }
  PodSpec random_spec() {
    PodSpec spec;
    spec.cpu_milli = 1'000 * below(8);
    spec.gpus = static_cast<int32_t>(below(3));
    spec.priority = static_cast<int32_t>(below(4)) - 1;
    spec.labels = random_labels();
    while (random.chance(0.4)) {
      spec.anti_affinity.push_back(
          {random.chance(0.5) ? PodTopology::Leaf : PodTopology::Hostname, random_labels()});
    }
    return spec;
  }
};

// ---- a plain recount

struct Standing {
  PodView pod;
  NodeId node;
};

bool is_of_group(const PodGroup& group, const PodView& pod) {
  const PodSpec& spec = *pod.spec;
  if (!group.team.empty() && pod.team != group.team) return false;
  if (group.members == GroupMembers::AnyKeepingAway) return !spec.anti_affinity.empty();
  if (group.members == GroupMembers::KeepingAway) {
    const PodAffinityTerm term{group.topology_key, group.labels};
    return std::ranges::find(spec.anti_affinity, term) != spec.anti_affinity.end();
  }
  return std::ranges::all_of(group.labels, [&](const NodeLabel& label) {
    return std::ranges::find(spec.labels, label) != spec.labels.end();
  });
}

PodCounts recount(const PodGroup& group, const std::vector<Standing>& placed,
                  const ClusterState& cluster) {
  const bool by_node = group.topology_key == PodTopology::Hostname;
  const auto domain_of = [&](NodeId n) { return by_node ? n.index : cluster.leaf(n); };
  PodCounts counts{.in = std::vector<int32_t>(by_node ? cluster.nodes() : cluster.leaves()),
                   .where = NodeSet{cluster.nodes()}};
  for (const Standing& s : placed) {
    if (!is_of_group(group, s.pod)) continue;
    ++counts.in[domain_of(s.node)];
    ++counts.total;
  }
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    if (counts.in[domain_of({n})] > 0) counts.where.insert({n});
  }
  counts.domains_with_any = std::ranges::count_if(counts.in, [](int32_t n) { return n > 0; });
  return counts;
}

void expect_equal(const PodCounts& ours, const PodCounts& expected) {
  EXPECT_EQ(ours.in, expected.in);
  EXPECT_EQ(ours.where, expected.where);
  EXPECT_EQ(ours.total, expected.total);
  EXPECT_EQ(ours.domains_with_any, expected.domains_with_any);
}

// Compares the ledger, except for count(), with a recount of `placed`. `placed` is in the order of
// placement.
void expect_recounted(const Placements& ledger, const std::vector<Standing>& placed,
                      const LedgerGround& ground) {
  std::map<NodeId, std::vector<PodId>> on_node;
  std::map<JobId, std::vector<PodId>> of_job;
  std::map<GangId, GangPlacement> of_gang;
  std::map<NodeId, int32_t> lowest_on;
  std::optional<int32_t> lowest;
  for (const auto& [pod, node] : placed) {
    EXPECT_EQ(ledger.node_of(pod.id), node);
    on_node[node].insert(on_node[node].begin(), pod.id);
    of_job[pod.job].push_back(pod.id);
    ++of_gang[pod.gang].pods;
    of_gang[pod.gang].held += pod.spec->requests();
    const int32_t priority = pod.spec->priority;
    lowest = std::min(lowest.value_or(priority), priority);
    lowest_on[node] = std::min(lowest_on.emplace(node, priority).first->second, priority);
  }
  EXPECT_EQ(ledger.pods(), placed.size());
  EXPECT_EQ(ledger.lowest_priority(), lowest);
  for (uint32_t n = 0; n < LedgerGround::kNodes; ++n) {
    EXPECT_EQ(ledger.on_node({n}), on_node[{n}]) << "latest first";
    const auto low = lowest_on.find({n});
    EXPECT_EQ(ledger.lowest_priority_on({n}),
              low == lowest_on.end() ? std::nullopt : std::optional{low->second});
  }
  for (uint32_t j = 0; j < LedgerGround::kJobs; ++j) {
    const auto there = ledger.of_job({j});
    std::vector<PodId> ours{there.begin(), there.end()};
    std::ranges::sort(ours);
    std::ranges::sort(of_job[{j}]);
    EXPECT_EQ(ours, of_job[{j}]);
  }
  for (uint32_t g = 0; g < LedgerGround::kGangs; ++g) {
    EXPECT_EQ(ledger.of_gang({g}).pods, of_gang[{g}].pods);
    EXPECT_EQ(ledger.of_gang({g}).held, of_gang[{g}].held);
  }
  for (const PodView& pod : ground.pods) {
    const bool is_placed =
        std::ranges::any_of(placed, [&](const Standing& s) { return s.pod.id == pod.id; });
    EXPECT_EQ(ledger.node_of(pod.id).is_valid(), is_placed);
  }
}

TEST(Placements, CountAsAPlainRecountDoesWheneverTheyAreAsked) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 5 : 40); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LedgerGround ground{seed};
    const ClusterState& cluster = ground.handle.state;
    Placements early{cluster, ground.handle.table}, late{cluster, ground.handle.table};
    const std::vector<PodGroup> groups = ground.groups();
    for (const PodGroup& group : groups) static_cast<void>(early.count(group));
    std::vector<Standing> placed;
    for (int step = 0; step < 150; ++step) {
      const PodView& pod = ground.pods[ground.below(LedgerGround::kPods)];
      const auto known =
          std::ranges::find(placed, pod.id, [](const Standing& s) { return s.pod.id; });
      if (known != placed.end()) {
        early.remove(pod.id), late.remove(pod.id);
        placed.erase(known);
      } else {
        placed.push_back({pod, ground.some_node()});
        early.place(pod, placed.back().node, {}, {}), late.place(pod, placed.back().node, {}, {});
      }
      const PodGroup& asked = groups[ground.below(static_cast<uint32_t>(groups.size()))];
      if (ground.random.chance(0.2)) expect_equal(late.count(asked), early.count(asked));
      if (step % 10 == 0) expect_recounted(early, placed, ground);
    }
    for (const PodGroup& group : groups) {
      const PodCounts expected = recount(group, placed, cluster);
      expect_equal(early.count(group), expected);
      expect_equal(late.count(group), expected);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Placements, AGangIsAtHomeWhereItsFirstMemberCame) {
  LedgerGround ground{1};
  Placements ledger{ground.handle.state, ground.handle.table};
  const PodView first = ground.handle.add_pod({}, {0}, {0});
  const PodView second = ground.handle.add_pod({}, {0}, {0});
  ledger.place(first, {3}, {}, {});
  ledger.place(second, {5}, {}, {});
  EXPECT_EQ(ledger.of_gang({0}).home, NodeId{3});
  ledger.remove(first.id);
  EXPECT_EQ(ledger.of_gang({0}).home, NodeId{3}) << "as long as some member is placed";
  ledger.remove(second.id);
  ledger.place(second, {6}, {}, {});
  EXPECT_EQ(ledger.of_gang({0}).home, NodeId{6});
  EXPECT_EQ(ledger.of_gang({}).pods, 0) << "pods without a gang are in none";
}

// ---- transactions

class TransactionGround : public LedgerGround {
 public:
  using LedgerGround::LedgerGround;

  // Fingerprint of the cluster's state and of the ledger. Lists of pods are represented by their
  // sizes. Undefined values are replaced by constants.
  std::vector<int64_t> all() const {
    std::vector<int64_t> words = fingerprint(handle.state);
    words.push_back(static_cast<int64_t>(ledger.pods()));
    words.push_back(ledger.lowest_priority().value_or(-9));
    for (const PodView& pod : pods) {
      const Placed& at = ledger.of(pod.id);
      const bool is_placed = at.node.is_valid();
      words.insert(words.end(), {at.node.index, is_placed ? at.grant.gpus : 0,
                                 is_placed ? at.since.ns : 0, is_placed ? at.team : 0});
    }
    for (uint32_t n = 0; n < kNodes; ++n) {
      words.push_back(static_cast<int64_t>(ledger.on_node({n}).size()));
      words.push_back(ledger.lowest_priority_on({n}).value_or(-9));
    }
    for (uint32_t g = 0; g < kGangs; ++g) {
      const GangPlacement gang = ledger.of_gang({g});
      words.push_back(gang.pods);
      words.push_back(gang.pods > 0 ? gang.home.index : -1);
      for (const int64_t held : gang.held.amount) words.push_back(held);
    }
    for (uint32_t j = 0; j < kJobs; ++j) {
      words.push_back(static_cast<int64_t>(ledger.of_job({j}).size()));
    }
    for (const PodGroup& group : groups()) {
      const PodCounts& counts = ledger.count(group);
      words.insert(words.end(), counts.in.begin(), counts.in.end());
      words.insert(words.end(), {counts.total, counts.domains_with_any});
      counts.where.for_each([&](NodeId n) { words.push_back(n.index); });
    }
    return words;
  }
  // Places or evicts a random pod.
  void change() {
    const PodView& pod = pods[below(kPods)];
    if (ledger.node_of(pod.id).is_valid()) return transaction.evict(pod);
    const NodeId node = some_node();
    const std::optional<DeviceGrant> grant = grant_on(node, *pod.spec);
    if (grant) transaction.place(pod, node, *grant, Time{++clock_});
  }
  // Makes random changes within a savepoint and within nested ones. Nested savepoints are kept or
  // undone at random, the outermost is undone.
  void wander(int depth) {
    const std::vector<int64_t> before = all();
    Transaction::Savepoint savepoint{transaction};
    for (int i = 0; i < 6; ++i) {
      change();
      if (depth < 3 && random.chance(0.3)) wander(depth + 1);
    }
    const bool is_kept = depth > 0 && random.chance(0.5);
    const std::vector<int64_t> after = all();
    if (is_kept) savepoint.keep();
    savepoint.end();
    EXPECT_EQ(all(), is_kept ? after : before) << "depth " << depth;
  }

  Placements ledger{handle.state, handle.table};
  Transaction transaction{handle.state, ledger, handle.table};

 private:
  int64_t clock_ = 0;
};

TEST(Transaction, NestedSavepointsAreUndoneWithAllTheyKept) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 5 : 40); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TransactionGround ground{seed};
    for (int i = 0; i < 30; ++i) ground.change();
    for (int i = 0; i < 4; ++i) ground.wander(0);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Transaction, AnInnerSavepointIsUndoneAloneOrWithTheOuterOne) {
  for (const bool is_inner_kept : {false, true}) {
    TransactionGround ground{1};
    const PodView first = ground.handle.add_pod({}, {0}, {0});
    const PodView second = ground.handle.add_pod({}, {0}, {0});
    Placements& ledger = ground.ledger;
    ground.transaction.place(first, {3}, {}, {});
    const std::vector<int64_t> before = ground.all();
    {
      const Transaction::Savepoint outer{ground.transaction};
      ground.transaction.evict(first);
      ground.transaction.place(second, {5}, {}, {});
      EXPECT_EQ(ledger.of_gang({0}).home, NodeId{5});
      const std::vector<int64_t> between = ground.all();
      Transaction::Savepoint inner{ground.transaction};
      ground.transaction.evict(second);
      ground.transaction.place(first, {7}, {}, {});
      EXPECT_EQ(ledger.of_gang({0}).home, NodeId{7});
      if (is_inner_kept) inner.keep();
      inner.end();
      EXPECT_EQ(ground.all() == between, !is_inner_kept);
      EXPECT_EQ(ledger.of_gang({0}).home, (NodeId{is_inner_kept ? 7U : 5U}));
    }
    EXPECT_EQ(ground.all(), before);
    EXPECT_EQ(ledger.of_gang({0}).home, NodeId{3});
  }
}

TEST(Transaction, WhatAnOuterSavepointKeepsIsFinal) {
  TransactionGround ground{1};
  const PodView pod = ground.handle.add_pod({});
  {
    Transaction::Savepoint savepoint{ground.transaction};
    ground.transaction.place(pod, {3}, {}, {});
    savepoint.keep();
  }
  EXPECT_EQ(ground.ledger.node_of(pod.id), NodeId{3});
  EXPECT_EQ(ground.handle.state.requested({3}, Resource::Pods), 1);
}

}  // namespace
}  // namespace orrery

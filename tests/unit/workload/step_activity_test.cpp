#include "models/workload/training/step_activity.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/hardware/machine_catalogue.hpp"

namespace orrery {
namespace {

// Places of the ranks on nodes of 8 GPUs. Each GPU has a NIC of its own.
std::vector<RankPlace> whole_nodes(uint32_t nodes) {
  std::vector<RankPlace> places;
  for (uint32_t rank = 0; rank < 8 * nodes; ++rank) places.push_back({{rank / 8}, {rank}});
  return places;
}

// One switch connects all NICs. NIC i sends on link 2i and receives on link 2i + 1.
RouteFinder star() {
  return [links = std::array<LinkId, 2>{}](NicId from, NicId to, uint32_t) mutable {
    links = {LinkId{2 * from.index}, LinkId{2 * to.index + 1}};
    return std::span<const LinkId>{links};
  };
}

double weight_of(const FabricActivity& activity, uint32_t link) {
  for (const LinkUse& use : activity.uses) {
    if (use.link.index == link) return use.weight;
  }
  return 0;
}

StepParams with_exchange(ExchangeGroup among, Bytes bytes, int64_t count = 1) {
  StepParams params;
  params.compute = 1_s;
  params.exchanges.push_back({.bytes = bytes, .count = count, .among = among});
  return params;
}

const Machine& h100() { return *find_machine("hgx-h100"); }

TEST(StepActivity, OfAllRanksIsARingOverAllRails) {
  StepParams params = with_exchange(ExchangeGroup::All, {1'000'000'000});
  params.exchanges[0].algorithm = AlgorithmChoice::Ring;
  const StepPlan plan = plan_step(params, 32, 4);
  const StepActivity activity =
      step_activity(plan, h100(), h100().all_gpus(), whole_nodes(4), star());
  ASSERT_EQ(activity.fabric.uses.size(), 64U);
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 0), bus_factor(Collective::AllReduce, 32) / 8);
  EXPECT_EQ(activity.bytes.count, 1'000'000'000);
  EXPECT_EQ(activity.inside, Duration{});
  EXPECT_NEAR((activity.inside + activity.bytes / activity.rate_max).seconds(),
              exchange_time(plan, h100(), h100().all_gpus()).seconds(), 1e-8);
}

// With tensor groups that fill a node, each data group has one GPU and one NIC on each node.
TEST(StepActivity, OfDataGroupsPutsEachOnARailOfItsOwn) {
  StepParams params = with_exchange(ExchangeGroup::Data, {1'000'000'000}, 2);
  params.parallel.tensor = 8;
  params.exchanges.push_back({.bytes = {50'000'000}, .count = 100, .among = ExchangeGroup::Tensor});
  const StepPlan plan = plan_step(params, 32, 4);
  const StepActivity activity =
      step_activity(plan, h100(), h100().all_gpus(), whole_nodes(4), star());
  ASSERT_EQ(activity.fabric.uses.size(), 64U);
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 5), bus_factor(Collective::AllReduce, 4));
  EXPECT_EQ(activity.bytes.count, 2'000'000'000);
  EXPECT_GT(activity.inside, Duration{}) << "tensor groups stay in their nodes";
  EXPECT_NEAR((activity.inside + activity.bytes / activity.rate_max).seconds(),
              exchange_time(plan, h100(), h100().all_gpus()).seconds(), 1e-8);
}

TEST(StepActivity, OfAPipelineGoesFromStageToStage) {
  StepParams params = with_exchange(ExchangeGroup::Pipeline, {1'000'000});
  params.parallel.pipeline = 4;
  params.parallel.microbatches = 8;
  params.exchanges[0].collective = Collective::PointToPoint;
  const StepActivity activity =
      step_activity(plan_step(params, 32, 4), h100(), h100().all_gpus(), whole_nodes(4), star());
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 0), 1);
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 1), 0) << "nothing comes to the first stage";
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 2 * 24), 0) << "the last one sends nothing on";
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 2 * 24 + 1), 1);
}

TEST(StepActivity, WeighsExchangesByTheirBytes) {
  StepParams params = with_exchange(ExchangeGroup::All, {300'000'000});
  params.exchanges[0].algorithm = AlgorithmChoice::Ring;
  params.exchanges.push_back(
      {.collective = Collective::AllGather, .bytes = {100'000'000}, .among = ExchangeGroup::All});
  const StepActivity activity =
      step_activity(plan_step(params, 32, 4), h100(), h100().all_gpus(), whole_nodes(4), star());
  const double reduce = bus_factor(Collective::AllReduce, 32) / 8;
  const double gather = bus_factor(Collective::AllGather, 32) / 8;
  EXPECT_DOUBLE_EQ(weight_of(activity.fabric, 0), 0.75 * reduce + 0.25 * gather);
}

TEST(StepActivity, GoesTheWayOfTheAlgorithmThatIsChosen) {
  const auto weights = [](AlgorithmChoice algorithm, Bytes bytes) {
    StepParams params = with_exchange(ExchangeGroup::All, bytes);
    params.exchanges[0].algorithm = algorithm;
    const StepActivity activity =
        step_activity(plan_step(params, 32, 4), h100(), h100().all_gpus(), whole_nodes(4), star());
    std::array<double, 4> sent{};
    for (uint32_t node = 0; node < 4; ++node)
      sent[node] = 8 * weight_of(activity.fabric, 16 * node);
    return sent;
  };
  const double ring = bus_factor(Collective::AllReduce, 32);
  const double rails = bus_factor(Collective::AllReduce, 4);
  using Weights = std::array<double, 4>;
  // Each tree carries half of the buffer. In the first tree, node 0 is the parent of 2, and node 2
  // is the parent of 1 and 3. In the second tree, node 3 is the parent of 1, and node 1 is the
  // parent of 2 and 0.
  const Weights trees{1, 2, 2, 1};
  using enum AlgorithmChoice;
  EXPECT_EQ(weights(Ring, {1'000'000'000}), (Weights{ring, ring, ring, ring}));
  EXPECT_EQ(weights(Hierarchical, {1'000'000'000}), (Weights{rails, rails, rails, rails}));
  EXPECT_EQ(weights(Tree, {1'000'000'000}), trees);
  EXPECT_EQ(weights(Nvls, {1'000'000'000}), trees);
  // NVLink limits a ring to less than the rate of the NICs. So `auto` chooses NVLSTree, in which
  // the NVSwitches reduce.
  EXPECT_EQ(weights(Auto, {100'000'000'000}), trees);
}

// Two servers on four nodes. Colocated servers are on the first two nodes, and all nodes have
// workers. Dedicated servers are on the last two nodes, which have no workers.
TEST(StepActivity, OfPushPullLoadsTheNodesWithServers) {
  const auto sent = [](ServerPlacement placement) {
    StepParams params = with_exchange(ExchangeGroup::All, {1'000'000'000});
    params.exchanges[0].collective = Collective::PushPull;
    params.exchanges[0].servers = ServerParams{.count = 2, .placement = placement};
    const StepActivity activity =
        step_activity(plan_step(params, 32, 4), h100(), h100().all_gpus(), whole_nodes(4), star());
    std::array<double, 4> weights{};
    for (uint32_t node = 0; node < 4; ++node) {
      weights[node] = 8 * weight_of(activity.fabric, 16 * node);
    }
    return weights;
  };
  EXPECT_EQ(sent(ServerPlacement::Colocated), (std::array{2.0, 2.0, 1.0, 1.0}));
  EXPECT_EQ(sent(ServerPlacement::Dedicated), (std::array{1.0, 1.0, 1.0, 1.0}));
}

TEST(StepActivity, OfOneNodeHasNoBytesOnTheFabric) {
  const StepPlan plan = plan_step(with_exchange(ExchangeGroup::All, {1'000'000'000}), 8, 1);
  const StepActivity activity =
      step_activity(plan, h100(), h100().all_gpus(), whole_nodes(1), star());
  EXPECT_TRUE(activity.fabric.uses.empty());
  EXPECT_EQ(activity.bytes, Bytes{});
  EXPECT_EQ(activity.inside, exchange_time(plan, h100(), h100().all_gpus()));
}

TEST(StepActivity, TakesTheNicsOfTheNodeWithTheFewest) {
  std::vector<RankPlace> places = whole_nodes(2);
  places.resize(12);  // 8 ranks are on the first node, 4 on the second
  const StepPlan plan = plan_step(with_exchange(ExchangeGroup::All, {1'000'000'000}), 12, 2);
  const StepActivity activity = step_activity(plan, h100(), h100().all_gpus(), places, star());
  EXPECT_EQ(activity.fabric.uses.size(), 16U) << "4 rails, 2 nodes, 2 ways";
}

}  // namespace
}  // namespace orrery

#include "models/faults/link_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/check.hpp"
#include "tests/support/fabrics.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

// Link faults on a fabric. The default fabric has 4 leaves and 2 spines, and 2 NICs at 400 Gb/s
// under each leaf.
struct LinkWorld {
  explicit LinkWorld(const LinkFaultParams& params, const NetworkParams& network_params = {},
                     Fabric fabric = test::full_tree(4, 2), uint64_t seed = 1)
      : rng{seed},
        network{sim(), network_params, std::move(fabric)},
        faults{sim(), network, params} {
    faults.start();
  }
  Sim sim() { return {engine, rng, recorder}; }
  void run(Duration until) { engine.run(Time{} + until); }
  std::vector<LinkFaultRow> rows() {
    recorder.flush_all();
    return recorder.rows<LinkFaultRow>("/events/link_faults");
  }
  Bandwidth capacity(std::string_view cable) {
    return network.state().capacity(up_link(network.fabric().find_cable(cable)));
  }

  Engine engine;
  RngStreams rng;
  MemoryRecorder recorder;
  Network network;
  LinkFaults faults;
};

ListedLinkFaultParams listed(std::string on, Duration at, std::optional<Duration> until,
                             LinkFlaw flaw) {
  return {.on = std::move(on), .at = at, .until = until, .flaw = flaw};
}

NetworkParams routed_by(RoutingEngine engine) {
  NetworkParams params;
  params.routing.engine = engine;
  return params;
}

TEST(LinkFaults, AListedFaultLastsFromItsBeginToItsEnd) {
  LinkWorld world{
      {.list = {listed("leaf-1.up-0", 10_s, 20_s, DegradedLink{.bit_error_rate = 1e-9})}}};
  world.run(9_s);
  EXPECT_EQ(world.capacity("leaf-1.up-0"), 400_Gbps);
  world.run(15_s);
  EXPECT_NEAR(static_cast<double>(world.capacity("leaf-1.up-0").bits_per_s), 400e9 / 201, 1e7);
  EXPECT_EQ(world.network.state().cables_slow(), 1U);
  world.run(100_s);
  EXPECT_EQ(world.capacity("leaf-1.up-0"), 400_Gbps);
  EXPECT_EQ(world.network.state().cables_slow(), 0U);
  const auto rows = world.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name.view(), "leaf-1.up-0");
  EXPECT_EQ(rows[0].kind, LinkFlawKind::Degraded);
  EXPECT_EQ(rows[0].cause.view(), "list");
  EXPECT_FALSE(rows[0].switch_id.is_valid());
  EXPECT_EQ(rows[0].from, Time{} + 10_s);
  EXPECT_EQ(rows[0].to, Time{} + 20_s);
  EXPECT_EQ(rows[0].symbol_errors, 4000) << "400 Gb/s x 1e-9 x 10 s";
}

TEST(LinkFaults, ADeadSwitchTakesItsCablesAndBringsThemBack) {
  LinkWorld world{{.list = {listed("spine-1", 10_s, 20_s, DeadLink{})}}};
  world.run(15_s);
  EXPECT_EQ(world.network.state().cables_down(), 4U);
  EXPECT_EQ(world.capacity("leaf-1.up-1"), Bandwidth{});
  EXPECT_EQ(world.capacity("leaf-1.up-0"), 400_Gbps);
  world.run(25_s);
  EXPECT_EQ(world.network.state().cables_down(), 0U);
  ASSERT_EQ(world.rows().size(), 1U);
  EXPECT_TRUE(world.rows()[0].switch_id.is_valid());
  EXPECT_FALSE(world.rows()[0].cable.is_valid());
}

TEST(LinkFaults, FaultsOfOneCableAddUp) {
  const std::string cable = "host-0.nic-0";
  const auto bad = [](double rate) { return DegradedLink{.bit_error_rate = rate}; };
  LinkWorld world{
      {.list = {listed(cable, 10_s, 30_s, DeadLink{}), listed(cable, 20_s, 40_s, DeadLink{}),
                listed(cable, 50_s, 70_s, bad(1e-15)), listed(cable, 60_s, 80_s, bad(2e-15))}}};
  const auto error_rate = [&] {
    return world.network.state().bit_error_rate(world.network.fabric().find_cable(cable));
  };
  world.run(35_s);
  EXPECT_EQ(world.capacity(cable), Bandwidth{}) << "one of two faults lasts";
  EXPECT_GT(mark_count("faults.link_was_down_already"), 0U);
  world.run(45_s);
  EXPECT_EQ(world.capacity(cable), 400_Gbps);
  world.run(65_s);
  EXPECT_DOUBLE_EQ(error_rate(), 3e-15);
  world.run(75_s);
  EXPECT_DOUBLE_EQ(error_rate(), 2e-15);
  world.run(85_s);
  EXPECT_EQ(error_rate(), 0);
}

TEST(LinkFaults, ACurseIsLiftedWhenRoutingIsNotAdaptiveAnyMore) {
  LinkWorld world{{.list = {listed("leaf-0.up-1", 10_s, std::nullopt, CursedLink{.factor = 250})},
                   .routing = {{.at = 20_s, .engine = RoutingEngine::Dmodk},
                               {.at = 30_s, .engine = RoutingEngine::AdaptiveGlobal}}},
                  routed_by(RoutingEngine::AdaptiveLocal)};
  std::vector<int64_t> logged;
  world.network.routes_changed.connect(
      [&](const Network::RouteNews&) { logged.push_back(world.engine.now().ns / 1'000'000'000); });
  world.run(15_s);
  EXPECT_EQ(world.capacity("leaf-0.up-1"), (Bandwidth{1'600'000'000}));
  world.run(25_s);
  EXPECT_EQ(world.capacity("leaf-0.up-1"), 400_Gbps);
  world.run(35_s);
  EXPECT_EQ(world.capacity("leaf-0.up-1"), (Bandwidth{1'600'000'000}));
  EXPECT_EQ(logged, (std::vector<int64_t>{20, 30})) << "all routes are found anew";
  world.faults.finish();
  ASSERT_EQ(world.rows().size(), 1U);
  EXPECT_EQ(world.rows()[0].to, Time{-1}) << "it lasts";
}

TEST(LinkFaults, RandomFaultsStrikeAtTheirRateAndFlapsTakeAFewSeconds) {
  const Fabric fabric = test::full_tree(16, 2);  // 128 NICs
  RandomLinkFaultParams flaps{
      .name = "flap", .among = FabricPart::NicCables, .rate = 500, .flaw = FlappingLink{}};
  RandomLinkFaultParams spines{.name = "dead", .among = FabricPart::Spines, .rate = 1000};
  LinkWorld world{{.random = {flaps, spines}}, {}, fabric};
  world.run(30_d);
  std::vector<double> seconds;
  double dead = 0;
  for (const LinkFaultRow& row : world.rows()) {
    if (row.kind == LinkFlawKind::Flap) {
      EXPECT_THAT(std::string{row.name.view()}, HasSubstr(".nic-0"));
      seconds.push_back((row.to - row.from).seconds());
    } else {
      EXPECT_THAT(std::string{row.name.view()}, HasSubstr("spine-"));
      EXPECT_EQ(row.cause.view(), "dead");
      ++dead;
    }
  }
  // A rate of 100 is one fault per part in 30 days, and the run lasts 30 days. On
  // average, each of 128 cables flaps 5 times at rate 500, and each of 8 spines fails 10 times at
  // rate 1000. The numbers of faults have Poisson distributions; the tolerance is four standard
  // deviations.
  const double flap_count = 128 * 5, dead_count = 8 * 10;
  EXPECT_NEAR(static_cast<double>(seconds.size()), flap_count, 4 * std::sqrt(flap_count));
  EXPECT_NEAR(dead, dead_count, 4 * std::sqrt(dead_count));
  std::ranges::sort(seconds);
  EXPECT_NEAR(seconds[seconds.size() / 2], 3.0, 0.4);
}

TEST(LinkFaults, WhatIsDrawnDependsOnTheSeedAlone) {
  const auto times = [](uint64_t seed, const NetworkParams& params) {
    LinkWorld world{
        {.random = {{.among = FabricPart::LeafCables, .rate = 1000, .flaw = FlappingLink{}}}},
        params,
        test::full_tree(8, 3),
        seed};
    world.run(10_d);
    std::vector<std::pair<uint32_t, int64_t>> all;
    for (const LinkFaultRow& row : world.rows()) all.emplace_back(row.cable.index, row.to.ns);
    return all;
  };
  EXPECT_EQ(times(3, {}), times(3, routed_by(RoutingEngine::AdaptiveLocal)));
  EXPECT_NE(times(3, {}), times(4, {}));
}

TEST(LinkFaults, OneOfAPartOfTheFabricIsDrawn) {
  LinkFaultParams params;
  const std::pair<FabricPart, std::string> parts[] = {
      {FabricPart::NicCables, "host-"},    {FabricPart::LeafCables, "leaf-"},
      {FabricPart::SpineCables, "spine-"}, {FabricPart::Leaves, "leaf-"},
      {FabricPart::Spines, "spine-"},      {FabricPart::Cores, "core-"}};
  for (const auto& [part, name] : parts) {
    ListedLinkFaultParams fault;
    fault.among = part;
    fault.at = 1_s * (static_cast<int64_t>(params.list.size()) + 1);
    fault.until = fault.at + 100_s;
    params.list.push_back(fault);
  }
  LinkWorld world{params, {}, test::full_tree(8, 3)};
  world.run(200_s);
  const auto rows = world.rows();
  ASSERT_EQ(rows.size(), std::size(parts));
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(std::string{rows[i].name.view()}.starts_with(parts[i].second)) << i;
    EXPECT_EQ(rows[i].switch_id.is_valid(), are_switches(parts[i].first)) << i;
  }
}

TEST(LinkParams, NcclGivesUpAfterEightTimeOuts) {
  LinkParams params;
  EXPECT_NEAR(params.gives_up_after().seconds(), 34.4, 0.1);
  params.ib_timeout = 14;
  EXPECT_NEAR(params.gives_up_after().seconds(), 0.54, 0.01);
  params.retry_timeout = 5_s;
  EXPECT_EQ(params.gives_up_after(), 5_s);
}

}  // namespace
}  // namespace orrery

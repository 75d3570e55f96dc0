#include "models/network/network.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sim/record/recorder.hpp"
#include "tests/support/fabrics.hpp"

namespace orrery {
namespace {

struct NetworkTest : ::testing::Test {
  static NetworkParams params(RoutingEngine engine, std::optional<Duration> choose_every = {}) {
    NetworkParams p;
    p.routing = {.engine = engine, .choose_every = choose_every};
    return p;
  }
  Network& network(const NetworkParams& p) {
    return built.emplace(Sim{engine, rng, recorder}, p, test::full_tree(8, 2));
  }
  // The second cable, from leaf to spine, of the present route from NIC 0 to the last NIC.
  uint32_t way(Network& network) {
    Network::Routes routes{network};
    const auto last = static_cast<uint32_t>(network.fabric().nics() - 1);
    return cable_of(routes({0}, {last}, 0)[1]).index;
  }

  Engine engine;
  RngStreams rng{1};
  MemoryRecorder recorder;
  std::optional<Network> built;
};

TEST_F(NetworkTest, AdaptiveWaysAreChosenAgainWhileThereIsTraffic) {
  Network& net = network(params(RoutingEngine::AdaptiveLocal, 10_s));
  int chosen = 0;
  std::set<uint32_t> ways;
  net.routes_changed.connect([&](const Network::RouteNews& news) {
    EXPECT_TRUE(news.concerns({}, false));
    ++chosen;
    ways.insert(way(net));
  });
  const std::vector<LinkUse> uses{{up_link(net.fabric().nic_cable({0}))}};
  net.hold(uses);
  engine.at(Time{} + 1000_s, Label{"test.release"}, [&] { net.release(uses); });
  engine.run();
  EXPECT_EQ(chosen, 100);
  EXPECT_EQ(ways.size(), 4U) << "all cables of the leaf, in time";
  EXPECT_LE(engine.now(), Time{} + 1010_s) << "it keeps no run alive";
}

TEST_F(NetworkTest, StaticWaysStayAndAnotherEngineFindsOthers) {
  Network& net = network(params(RoutingEngine::Dmodk));
  int changes = 0;
  net.routes_changed.connect([&](const Network::RouteNews&) { ++changes; });
  const uint32_t ftree = way(net);
  EXPECT_EQ(way(net), ftree);
  net.set_engine(RoutingEngine::Dmodk);  // Dmodk is ftree, the present engine: no signal
  net.set_engine(RoutingEngine::AdaptiveGlobal);
  engine.run();
  EXPECT_EQ(changes, 1);
  // AdaptiveGlobal avoids links that active flows use (Network::hold()), so each new route takes
  // another up-cable.
  std::set<uint32_t> ways;
  for (int i = 0; i < 4; ++i) {
    const uint32_t taken = way(net);
    ways.insert(taken);
    const std::vector<LinkUse> uses{{up_link(CableId{taken})}};
    net.hold(uses);
  }
  EXPECT_EQ(ways.size(), 4U);
}

TEST_F(NetworkTest, OnesOwnLoadDoesNotKeepItFromItsWay) {
  Network& net = network(params(RoutingEngine::AdaptiveLocal));
  const uint32_t taken = way(net);
  const std::vector<LinkUse> uses{{up_link(CableId{taken})}};
  net.hold(uses);
  EXPECT_NE(way(net), taken);
  {
    const auto last = static_cast<uint32_t>(net.fabric().nics() - 1);
    Network::Routes routes{net, uses};
    EXPECT_EQ(cable_of(routes({0}, {last}, 0)[1]).index, taken);
  }
  EXPECT_NE(way(net), taken) << "it counts again";
}

TEST_F(NetworkTest, NewsOfStaticRoutesConcernWhoeverUsedTheCableOrGoesADetour) {
  Network& net = network(params(RoutingEngine::Dmodk));
  std::vector<Network::RouteNews> logged;
  net.routes_changed.connect([&](const Network::RouteNews& news) { logged.push_back(news); });
  const CableId taken{way(net)}, other{taken.index + 1};
  const std::vector<LinkUse> over_it{{up_link(taken)}}, elsewhere{{up_link(other)}};
  const auto last = static_cast<uint32_t>(net.fabric().nics() - 1);
  const auto has_detour = [&] {
    Network::Routes routes{net};
    routes({0}, {last}, 0);
    return routes.has_detour();
  };
  EXPECT_FALSE(has_detour());
  net.state().set_up(taken, false, engine.now());
  engine.run();
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_TRUE(logged[0].concerns(over_it, false));
  EXPECT_FALSE(logged[0].concerns(elsewhere, true)) << "nothing came up";
  EXPECT_TRUE(has_detour());
  net.state().set_up(other, false, engine.now());
  net.state().set_up(taken, true, engine.now());
  engine.run();
  ASSERT_EQ(logged.size(), 2U) << "once per instant";
  EXPECT_TRUE(logged[1].concerns(elsewhere, false));
  EXPECT_TRUE(logged[1].concerns({}, true));
  EXPECT_FALSE(logged[1].concerns(over_it, false));
  EXPECT_FALSE(has_detour());
}

}  // namespace
}  // namespace orrery

#include "models/network/sharing/flow_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace orrery {
namespace {

// Two links of 8 Gb/s, which is one byte a nanosecond.
struct FlowNetworkTest : ::testing::Test {
  Engine engine;
  FlowNetwork network{engine};
  LinkId link = network.add_link(8_Gbps);
  LinkId other = network.add_link(8_Gbps);
  std::vector<LinkUse> on_link{{link}}, on_other{{other}}, on_both{{link}, {other}};

  FlowId start(int64_t bytes, std::span<const LinkUse> uses, Time* end, Duration latency = {}) {
    return network.start({.size = {bytes}, .uses = uses, .latency = latency},
                         [this, end] { *end = engine.now(); });
  }
  void at(int64_t ns, auto action) { engine.at(Time{ns}, Label{"test.act"}, action); }
};

TEST_F(FlowNetworkTest, TransferTakesItsBytesAtTheRateOfTheLinkAfterItsLatency) {
  Time alone, later;
  start(1000, on_link, &alone);
  start(1000, on_other, &later, 70_ns);
  engine.run();
  EXPECT_EQ(alone.ns, 1000);
  EXPECT_EQ(later.ns, 1070);
  EXPECT_EQ(network.active(), 0u);
  EXPECT_EQ(network.carried(link).count, 1000);
}

TEST_F(FlowNetworkTest, TransferEndsAtTheNextWholeNanosecond) {
  const LinkId slow = network.add_link({3'000'000'000});
  const std::vector<LinkUse> uses{{slow}};
  Time end;
  start(1, uses, &end);  // 8 bits at 3 bits a nanosecond take 2.67 ns
  engine.run();
  EXPECT_EQ(end.ns, 3);
}

// The link moves one byte a nanosecond. The first transfer moves 1,000 bytes alone, 500 bytes in
// the 1,000 ns in which both transfers share the link, and the last 1,500 bytes alone.
TEST_F(FlowNetworkTest, TransfersThatShareALinkEndWhenTheirBytesAreThrough) {
  Time first, second;
  start(3000, on_link, &first);
  at(1000, [&] { start(500, on_link, &second); });
  engine.run();
  EXPECT_EQ(second.ns, 2000);
  EXPECT_EQ(first.ns, 3500);
}

TEST_F(FlowNetworkTest, FlowsWhoseRateIsWorkedOutElsewhereAreCarriedAndTakeNothing) {
  Time end;
  start(1000, on_link, &end);  // 8 Gbit/s: a byte a nanosecond
  const FlowId flow = network.carry(on_link);
  at(100, [&] { network.set_carried_rate(flow, 6e9); });
  at(500, [&] { network.set_carried_rate(flow, 2e9); });
  at(900, [&] {
    EXPECT_DOUBLE_EQ(network.carried_by(0), 900 + 300 + 100);
    network.book_carried();
    EXPECT_EQ(network.carried(link).count, 900 + 300 + 100);
    network.end(flow);
  });
  engine.run();
  EXPECT_EQ(end.ns, 1000);
  EXPECT_EQ(network.carried(link).count, 1000 + 300 + 100);
}

TEST_F(FlowNetworkTest, LinksOfAGroupAreReportedTogether) {
  const LinkId first = network.add_link(8_Gbps, 1), second = network.add_link(8_Gbps, 1);
  const LinkId third = network.add_link(8_Gbps, 2);
  const std::vector<LinkUse> uses{{first}, {second, 0.5}, {third}}, less{{first}};
  const FlowId flow = network.open(uses);
  Time end;
  start(300, less, &end);
  at(1000, [&] { network.set_uses(flow, less); });
  at(1100, [&] {
    EXPECT_DOUBLE_EQ(network.carried_by(1), 700 * 1.5 + 100 + 300);
    EXPECT_DOUBLE_EQ(network.carried_by(2), 700);
    network.end(flow);
  });
  engine.run();
  EXPECT_DOUBLE_EQ(network.carried_by(1), 700 * 1.5 + 100 + 300);
  EXPECT_DOUBLE_EQ(network.carried_by(0), 0);
}

TEST_F(FlowNetworkTest, TransferWaitsWhileALinkIsDownAndGoesOnWhenItIsBack) {
  Time end, empty;
  start(1000, on_both, &end);
  at(400, [&] { network.set_capacity(other, {0}); });
  at(450, [&] { start(0, on_both, &empty, 10_ns); });
  at(10'000, [&] { network.set_capacity(other, 4_Gbps); });
  engine.run();
  EXPECT_EQ(empty.ns, 460);
  EXPECT_EQ(end.ns, 10'000 + 2 * 600);
  EXPECT_EQ(network.carried(other).count, 1000);
}

TEST_F(FlowNetworkTest, EndedTransferFreesItsShareAndIsNeverDone) {
  Time ended, stays;
  const FlowId flow = start(1'000'000, on_link, &ended);
  start(1000, on_link, &stays);
  at(400, [&] {
    EXPECT_EQ(network.moved(flow).count, 200);
    EXPECT_TRUE(network.end(flow));
    EXPECT_FALSE(network.end(flow));
  });
  engine.run();
  EXPECT_EQ(ended.ns, 0);
  EXPECT_EQ(stays.ns, 400 + 800);
  EXPECT_EQ(network.carried(link).count, 1200);
  EXPECT_EQ(network.counters().ended_early, 1u);
}

TEST_F(FlowNetworkTest, StaleHandleDoesNotNameTheFlowThatTookItsPlace) {
  Time end;
  const FlowId old = start(10, on_link, &end);
  engine.run();
  const FlowId fresh = network.open(on_link);
  EXPECT_EQ(fresh.index, old.index);
  EXPECT_FALSE(network.is_active(old));
  EXPECT_TRUE(network.is_active(fresh));
  EXPECT_FALSE(network.end(old));
}

TEST_F(FlowNetworkTest, StandingFlowTellsWhenItsRateChangedAndTransfersAroundItMakeItSlower) {
  std::vector<std::pair<int64_t, double>> news;
  network.rate_changed.connect(
      [&](FlowId flow) { news.emplace_back(engine.now().ns, network.rate(flow)); });
  FlowId standing;
  Time end;
  at(5, [&] { standing = network.open(on_both, 6e9); });
  at(10, [&] { start(100, on_link, &end); });
  engine.run();
  const std::vector<std::pair<int64_t, double>> expected{{5, 6e9}, {10, 4e9}, {210, 6e9}};
  EXPECT_EQ(news, expected);
  EXPECT_EQ(end.ns, 210);
  EXPECT_EQ(network.load(other), 6e9);
}

TEST_F(FlowNetworkTest, RatesAreSettledOncePerInstantHoweverManyFlowsStartAndEnd) {
  std::array<Time, 8> ends;
  for (Time& end : ends) start(100, on_link, &end);
  engine.run();
  for (const Time end : ends) EXPECT_EQ(end.ns, 800);
  EXPECT_EQ(network.counters().settled, 2u);
}

TEST_F(FlowNetworkTest, RerouteKeepsWhatWasMoved) {
  Time end;
  const FlowId flow = start(1000, on_link, &end);
  at(300, [&] { network.set_uses(flow, on_other); });
  engine.run();
  EXPECT_EQ(end.ns, 1000);
  EXPECT_EQ(network.carried(link).count, 300);
  EXPECT_EQ(network.carried(other).count, 700);
}

TEST_F(FlowNetworkTest, TransferWithoutLinksAndLimitTakesItsLatencyAlone) {
  Time end;
  start(1'000'000'000, {}, &end, 15_ns);
  engine.run();
  EXPECT_EQ(end.ns, 15);
}

TEST_F(FlowNetworkTest, FlowWithoutAWayWaitsAtALimitOfZeroUntilItHasOneAgain) {
  Time end;
  const FlowId flow = start(1000, on_link, &end);
  at(200, [&] {
    network.set_uses(flow, {});
    network.set_rate_max(flow, 0);
  });
  at(5000, [&] {
    network.set_uses(flow, on_other);
    network.set_rate_max(flow, FlowNetwork::kUnlimited);
  });
  engine.run();
  EXPECT_EQ(end.ns, 5800);
}

TEST_F(FlowNetworkTest, WeightSaysHowMuchOfATransferEachLinkCarries) {
  const std::vector<LinkUse> uses{{link, 0.5}, {other, 2}};
  Time end;
  start(1000, uses, &end);
  engine.run();
  EXPECT_EQ(end.ns, 2000);
  EXPECT_EQ(network.carried(link).count, 500);
  EXPECT_EQ(network.carried(other).count, 2000);
}

TEST_F(FlowNetworkTest, DoneMayStartTheNextTransferAtOnce) {
  Time second;
  network.start({.size = {100}, .uses = on_link}, [&] { start(100, on_link, &second); });
  engine.run();
  EXPECT_EQ(second.ns, 200);
}

}  // namespace
}  // namespace orrery

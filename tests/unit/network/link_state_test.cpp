#include "models/network/fabric/link_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/fabrics.hpp"

namespace orrery {
namespace {

constexpr Time kStart{};

class LinkStateTest : public testing::Test {
 protected:
  LinkStateTest() : fabric{test::full_tree(4, 3)}, state{fabric, {}} {
    state.capacity_changed().connect([this](LinkId link) { changed.push_back(link); });
  }
  Fabric fabric;
  LinkState state;
  std::vector<LinkId> changed;
  CableId cable = fabric.leaf_cable({0}, 1);
};

TEST_F(LinkStateTest, ACleanLinkHasItsNominalRate) {
  for (uint32_t l = 0; l < fabric.links(); ++l) EXPECT_EQ(state.capacity({l}), 400_Gbps);
}

TEST_F(LinkStateTest, ADeadCableCarriesNothingEitherWay) {
  state.set_up(cable, false, kStart);
  EXPECT_EQ(state.capacity(up_link(cable)), Bandwidth{});
  EXPECT_EQ(state.capacity(down_link(cable)), Bandwidth{});
  EXPECT_EQ(changed, (std::vector<LinkId>{up_link(cable), down_link(cable)}));
  state.set_up(cable, false, kStart);  // the cable is down already: no signal
  EXPECT_EQ(changed.size(), 2U);
  EXPECT_EQ(state.routes_version(), 1U);
  state.set_up(cable, true, kStart);
  EXPECT_EQ(state.capacity(up_link(cable)), 400_Gbps);
  EXPECT_EQ(changed.size(), 4U);
}

TEST_F(LinkStateTest, WhoHearsOfADeadCableSeesThatRoutesChanged) {
  uint64_t seen = 0;
  state.capacity_changed().connect([&](LinkId) { seen = state.routes_version(); });
  state.set_up(cable, false, kStart);
  EXPECT_EQ(seen, 1U);
  state.set_up(fabric.spine(1, 0), false, kStart);
  EXPECT_EQ(seen, 2U);
}

TEST_F(LinkStateTest, ADeadSwitchTakesAllItsCablesAndOnlyThose) {
  const SwitchId spine = fabric.spine(0, 0);
  state.set_up(spine, false, kStart);
  EXPECT_FALSE(state.is_up(spine));
  EXPECT_EQ(changed.size(), 2 * 4U);
  size_t down = 0;
  for (uint32_t c = 0; c < fabric.cables(); ++c) down += state.is_up(CableId{c}) ? 0 : 1;
  EXPECT_EQ(down, 4U);
}

TEST_F(LinkStateTest, ACableIsUpOnceItselfAndBothItsEndsAre) {
  const CableEnds ends = fabric.ends(cable);
  state.set_up(ends.lower, false, kStart);
  state.set_up(cable, false, kStart);
  state.set_up(ends.upper, false, kStart);
  state.set_up(ends.lower, true, kStart);
  state.set_up(ends.upper, true, kStart);
  EXPECT_FALSE(state.is_up(cable));
  state.set_up(cable, true, kStart);
  EXPECT_TRUE(state.is_up(cable));
}

// goodput = rate / (1 + p T rate / L). A packet of L = 33,000 bits is lost with probability p = 1 -
// (1 - BER)^L, and costs a timeout T = 0.5 s.
TEST_F(LinkStateTest, ADegradedCableLosesGoodputByTheFormula) {
  state.set_bit_error_rate(cable, 1e-10, kStart);
  const double p = 1 - std::pow(1 - 1e-10, 33'000);
  const double expected = 400e9 / (1 + p * 0.5 * 400e9 / 33'000);
  EXPECT_NEAR(static_cast<double>(state.capacity(up_link(cable)).bits_per_s), expected,
              1e-6 * expected);
  EXPECT_EQ(changed.size(), 2U);
  EXPECT_EQ(state.routes_version(), 0U);
  state.set_bit_error_rate(cable, 0, kStart);
  EXPECT_EQ(state.capacity(up_link(cable)), 400_Gbps);
}

TEST_F(LinkStateTest, AGoodputNeverRisesWithTheErrorRate) {
  double before = 1;
  for (double rate = 1e-18; rate < 1; rate *= 1.7) {
    const double share = goodput_share(rate, 400_Gbps, 500_ms);
    EXPECT_LE(share, before);
    EXPECT_GT(share, 0);
    before = share;
  }
  EXPECT_EQ(goodput_share(0, 400_Gbps, 500_ms), 1);
}

TEST_F(LinkStateTest, TheTimeoutOfNcclIsAPowerOfTwo) {
  LinkParams params;
  params.ib_timeout = 20;
  EXPECT_EQ(params.timeout(), Duration{4'294'967'296});  // 2^32 ns = 4.3 s
  const LinkState slower{fabric, params};
  EXPECT_LT(goodput_share(1e-10, 400_Gbps, params.timeout()),
            goodput_share(1e-10, 400_Gbps, LinkParams{}.timeout()));
}

TEST_F(LinkStateTest, SymbolErrorsAreRateTimesErrorRateTimesTime) {
  state.set_bit_error_rate(cable, 1e-12, kStart + 1_h);
  EXPECT_EQ(state.symbol_errors(cable, kStart + 1_h), 0);
  EXPECT_EQ(state.symbol_errors(cable, kStart + 2_h), 1'440);  // 400 Gb/s * 1e-12 * 3,600 s
  state.set_bit_error_rate(cable, 1e-11, kStart + 2_h);
  EXPECT_EQ(state.symbol_errors(cable, kStart + 3_h), 1'440 + 14'400);
  EXPECT_EQ(state.bit_error_rate(cable), 1e-11);
  state.set_bit_error_rate(cable, 0, kStart + 3_h);
  EXPECT_EQ(state.symbol_errors(cable, kStart + 9_h), 1'440 + 14'400);
  EXPECT_EQ(state.symbol_errors(fabric.leaf_cable({1}, 0), kStart + 9_h), 0);
}

TEST_F(LinkStateTest, ADeadCableCountsNoErrors) {
  state.set_bit_error_rate(cable, 1e-12, kStart);
  state.set_up(cable, false, kStart + 1_h);
  state.set_up(cable, true, kStart + 4_h);
  EXPECT_EQ(state.symbol_errors(cable, kStart + 5_h), 2 * 1'440);
}

TEST_F(LinkStateTest, ACursedCableIsSlowOnlyWhileRoutingIsAdaptive) {
  state.curse(cable, 100);
  EXPECT_EQ(state.capacity(up_link(cable)), 400_Gbps);
  EXPECT_TRUE(changed.empty());
  state.set_adaptive(true);
  EXPECT_EQ(state.capacity(up_link(cable)), 4_Gbps);
  EXPECT_EQ(changed.size(), 2U);
  state.set_adaptive(false);  // as with an engine such as ftree or updn
  EXPECT_EQ(state.capacity(up_link(cable)), 400_Gbps);
  state.set_adaptive(true);
  state.curse(cable, 1);  // a factor of 1, as after a fix of the firmware
  EXPECT_EQ(state.capacity(up_link(cable)), 400_Gbps);
  EXPECT_EQ(changed.size(), 8U);
}

}  // namespace
}  // namespace orrery

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "models/control_plane/services/endpoints.hpp"
#include "models/control_plane/services/watch_fan_out.hpp"

namespace orrery {
namespace {

constexpr Bytes kAddress{100};

// Bytes sent to all watchers while nodes join one after the other. Each node becomes a member of
// the service and watches it from then on.
Bytes egress_of_joins(EndpointsParams params, uint32_t nodes) {
  params.address_bytes = kAddress;
  params.object_bytes = {};
  ServiceEndpoints service{params};
  FanOutCost total;
  for (uint32_t node = 0; node < nodes; ++node) {
    const std::array<uint32_t, 1> added{node};
    for (const ObjectWrite& write : service.sync({}, added)) total += fan_out(write, node + 1, {});
  }
  return total.egress;
}

constexpr EndpointsParams kOneObject{.kind = EndpointsKind::Endpoints, .addresses_max = 0};

TEST(FanOutLaws, AChangeAmongNNodesThatAllWatchCostsNSquaredAddresses) {
  for (const uint32_t nodes : {10U, 100U, 1'000U, 7'500U}) {
    EndpointsParams params = kOneObject;
    params.address_bytes = kAddress;
    params.object_bytes = {};
    ServiceEndpoints service{params};
    std::vector<uint32_t> all(nodes);
    for (uint32_t i = 0; i < nodes; ++i) all[i] = i;
    service.sync({}, all);
    const std::array<uint32_t, 1> gone{3}, come{nodes};
    const auto writes = service.sync(gone, come);
    ASSERT_EQ(writes.size(), 1U);
    EXPECT_EQ(fan_out(writes[0], nodes, {}).egress.count, int64_t{100} * nodes * nodes);
  }
}

TEST(FanOutLaws, GrowthToNNodesCostsAThirdOfNCubedAddresses) {
  for (const uint32_t nodes : {1U, 2U, 30U, 400U, 2'000U}) {
    const Bytes grown = egress_of_joins(kOneObject, nodes);
    EXPECT_EQ(grown.count, int64_t{100} * nodes * (nodes + 1) * (2 * nodes + 1) / 6);
    // The sum of i^2 for i = 1..n is n(n+1)(2n+1)/6 = n^3/3 * (1 + 3/(2n) + 1/(2n^2)).
    const double n = nodes;
    EXPECT_NEAR(static_cast<double>(grown.count) / (100 * n * n * n / 3),
                1 + 1.5 / n + 0.5 / (n * n), 1e-9);
  }
}

TEST(FanOutLaws, WithSlicesGrowthIsQuadratic) {
  const auto cost = [](uint32_t nodes) {
    return static_cast<double>(egress_of_joins({.slice_size = 100}, nodes).count);
  };
  // A slice of up to B = 100 addresses is half full on average. So the i-th join sends (B + 1) / 2
  // addresses to each of i watchers; the sum over i = 1..n is (B + 1) / 2 * n (n + 1) / 2.
  EXPECT_NEAR(cost(4'000) / (100 * 50.5 * 4'000.0 * 4'001 / 2), 1, 0.01);
  EXPECT_NEAR(cost(4'000) / cost(2'000), 4, 0.05);
}

}  // namespace
}  // namespace orrery

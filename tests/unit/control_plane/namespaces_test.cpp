#include "models/control_plane/load/namespaces.hpp"

#include <gtest/gtest.h>

#include "models/control_plane/load/thresholds.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

TEST(Thresholds, OnlyWhatIsBeyondIsReported) {
  ClusterSize size;
  size[Quantity::Nodes] = 5'000;
  size[Quantity::Pods] = 150'001;
  EXPECT_EQ(beyond_thresholds(size), (std::vector<Excess>{{Quantity::Pods, 150'001, 150'000}}));
}

TEST(Namespaces, ATokenBucketGivesItsBurstAtOnce) {
  EXPECT_EQ(throttled_time(20, 10, 20), Duration{});
  EXPECT_EQ(throttled_time(120, 10, 20), 10_s);
}

TEST(Namespaces, DeletionTakesTheRequestsOfAllTypes) {
  EXPECT_EQ(requests_of_deletion({.api_versions = 40, .resource_types = 100, .passes = 1}), 280);
}

TEST(Namespaces, TheirObjectsGrowWithThem) {
  const NamespaceParams params;
  EXPECT_EQ(objects_of(10'000, params), 30'000);
  EXPECT_EQ(bytes_of_type(10'000, params), Bytes{15'000'000});
}

TEST(Namespaces, WrongValuesAreRejected) {
  EXPECT_EQ(test::mistakes_of<NamespaceParams>("{workers: 0}").size(), 1U);
  EXPECT_EQ(test::mistakes_of<NamespaceParams>("{client_qps: 0}").size(), 1U);
}

}  // namespace
}  // namespace orrery

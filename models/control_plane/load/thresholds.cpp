#include "models/control_plane/load/thresholds.hpp"

namespace orrery {
namespace {

constexpr std::array<int64_t, kQuantities> kThresholds{
    5'000,          // nodes
    10'000,         // namespaces
    150'000,        // pods
    3'000,          // pods_of_namespace
    10'000,         // services
    5'000,          // services_of_namespace
    250,            // endpoints_of_service
    2'000,          // deployments_of_namespace
    150'000,        // objects_of_type
    1'000'000,      // event_objects
    1'500'000,      // object_bytes
    1'500'000'000,  // bytes_of_type
    2'000,          // access_tokens
    5'000,          // token_checks_per_second
};

}  // namespace

int64_t threshold(Quantity quantity) { return kThresholds[static_cast<size_t>(quantity)]; }

std::vector<Excess> beyond_thresholds(const ClusterSize& size) {
  std::vector<Excess> all;
  for (size_t i = 0; i < kQuantities; ++i) {
    if (size.counts[i] <= kThresholds[i]) continue;
    all.push_back({static_cast<Quantity>(i), size.counts[i], kThresholds[i]});
  }
  return all;
}

}  // namespace orrery

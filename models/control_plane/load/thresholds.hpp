// models/control_plane/load/thresholds.hpp -- the cluster sizes that Kubernetes tests, and which of
// them a run exceeds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

enum class Quantity : uint8_t {
  Nodes,
  Namespaces,
  Pods,
  PodsOfNamespace,
  Services,
  ServicesOfNamespace,
  EndpointsOfService,
  DeploymentsOfNamespace,
  ObjectsOfType,
  EventObjects,
  ObjectBytes,
  BytesOfType,
  AccessTokens,
  TokenChecksPerSecond,
};
inline constexpr size_t kQuantities = 14;
constexpr std::array<std::string_view, kQuantities> enum_names(Quantity) {
  return {"nodes",
          "namespaces",
          "pods",
          "pods_of_namespace",
          "services",
          "services_of_namespace",
          "endpoints_of_service",
          "deployments_of_namespace",
          "objects_of_type",
          "event_objects",
          "object_bytes",
          "bytes_of_type",
          "access_tokens",
          "token_checks_per_second"};
}

// The threshold that Kubernetes' SIG Scalability publishes. The enum Quantity leaves out quantities
// whose threshold is published as TBD.
int64_t threshold(Quantity quantity);

// The size of a cluster; 0 for unknown quantities.
struct ClusterSize {
  std::array<int64_t, kQuantities> counts{};
  int64_t& operator[](Quantity q) { return counts[static_cast<size_t>(q)]; }
  int64_t operator[](Quantity q) const { return counts[static_cast<size_t>(q)]; }
};
struct Excess {
  Quantity quantity;
  int64_t count, threshold;
  bool operator==(const Excess&) const = default;
};
// All quantities beyond their threshold, in the order of the enum.
std::vector<Excess> beyond_thresholds(const ClusterSize& size);

}  // namespace orrery

// models/control_plane/services/endpoints_params.hpp -- storage and distribution of services'
// addresses.
#pragma once

#include <array>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class EndpointsKind : uint8_t { Endpoints, EndpointSlices };
constexpr std::array<std::string_view, 2> enum_names(EndpointsKind) {
  return {"endpoints", "endpoint_slices"};
}

struct EndpointsParams {
  static constexpr std::string_view kDoc =
      "The addresses of a service: one Endpoints object, which each change rewrites as a whole, "
      "or several EndpointSlices.";
  EndpointsKind kind = EndpointsKind::EndpointSlices;
  int32_t slice_size = 100;
  Bytes address_bytes = {200};
  Bytes object_bytes = {300};
  Bytes object_min = {};
  int32_t addresses_max = 1'000;
  Duration batch_period = {};
  int32_t syncs = 5;

  template <class V>
  void fields(V& v) {
    v("kind", kind, "Whether Endpoints or EndpointSlices are written and watched.",
      Source{"Kubernetes 1.19: EndpointSlices"});
    v("slice_size", slice_size, "Maximum number of addresses in one slice.", Range{1, 1'000},
      Unit{"addresses"}, Source{"kube-controller-manager: --max-endpoints-per-slice"},
      Heeded{kind == EndpointsKind::EndpointSlices, "kind is endpoints"});
    v("address_bytes", address_bytes, "Size of one address in an object.",
      Range{1_B, Bytes{10'000}},
      Source{"published: KEP-1152, 5,000 addresses make about 1 MB; KEP-0752 assumes 100 B, and "
             "the Kubernetes blog 300 B"});
    v("object_bytes", object_bytes, "Size of an object apart from its addresses.",
      Range{0_B, 1_MiB}, Source{"estimate: name, labels, owner, ports"});
    v("object_min", object_min, "Minimum size of an object with its addresses.", Range{0_B, 1_MiB},
      Source{"no minimum; KEP-0752 assumes 1 KB"});
    v("addresses_max", addresses_max,
      "Maximum number of addresses in an Endpoints object. Further addresses are left out; 0: no "
      "limit.",
      Range{0, 100'000}, Unit{"addresses"}, Source{"Kubernetes 1.22"},
      Heeded{kind == EndpointsKind::Endpoints,
             "kind is endpoint_slices; then slice_size is the limit"});
    v("batch_period", batch_period,
      "Changes of a service within this time are written in one pass.", Range{Duration{}, 1_h},
      Source{"kube-controller-manager: --endpointslice-updates-batch-period"});
    v("syncs", syncs, "Maximum number of services that the controller syncs in parallel.",
      Range{1, 1'000}, Unit{"services"},
      Source{"kube-controller-manager: --concurrent-service-endpoint-syncs"});
  }
};

}  // namespace orrery

// models/control_plane/api_server/pod_object_params.hpp -- the size of a Pod, and its watchers.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct PodObjectParams {
  static constexpr std::string_view kDoc = "Pods, as API servers and etcd store them.";
  Bytes bytes = {5'000};
  int32_t watchers = 4;

  template <class V>
  void fields(V& v) {
    v("bytes", bytes, "Size of one Pod.", Range{1_B, 1_MiB},
      Source{"published: Kubernetes 1.2, a LIST of 30,000 pods is 150 MB"});
    v("watchers", watchers,
      "Clients that watch all pods: the scheduler, the job controller, and other clients that "
      "only cause load. Kubelets do not count, because each watches only its own pods.",
      Range{2, 1'000'000}, Unit{"clients"},
      Source{
          "estimate: the scheduler, the Job and EndpointSlice controllers, the garbage collector"},
      Heeded{Fact::FullPlane});
  }
};

}  // namespace orrery

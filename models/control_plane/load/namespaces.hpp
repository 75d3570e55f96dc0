// models/control_plane/load/namespaces.hpp -- costs of namespaces: deletion, and clients that query
// each namespace.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct NamespaceParams {
  static constexpr std::string_view kDoc = "The objects of a namespace.";
  int32_t objects = 3;
  Bytes object_bytes = {1'500};
  int32_t api_versions = 40;
  int32_t resource_types = 100;
  int32_t passes = 2;
  double delete_qps = 400;
  Duration grace = {};
  int32_t workers = 10;
  double client_qps = 10;
  int32_t client_burst = 20;

  template <class V>
  void fields(V& v) {
    v("objects", objects,
      "Number of objects of each namespace: first the Namespace itself, then a ServiceAccount; all "
      "others are ConfigMaps.",
      Range{1, 1'000}, Unit{"objects"},
      Source{"Kubernetes 1.24: Namespace, ServiceAccount, ConfigMap kube-root-ca.crt"});
    v("object_bytes", object_bytes, "Mean size of these objects.", Range{1_B, 1_MiB},
      Source{"estimate: most of the bytes are the certificate"});
    v("api_versions", api_versions,
      "Number of API versions. The deletion of a namespace sends two requests for each.",
      Range{1, 10'000}, Unit{"versions"}, Source{"estimate: 30 to 50 in use"},
      Heeded{Fact::DeletedNamespaces});
    v("resource_types", resource_types,
      "Number of resource types. Each API server has a watch connection to etcd for every type. "
      "When a namespace is deleted, each pass (see `passes`) sends a LIST and a DELETECOLLECTION "
      "for every type.",
      Range{1, 10'000}, Unit{"types"}, Source{"estimate: 60 to 200 in use"});
    v("passes", passes, "Number of passes over all resource types. The last pass finds no object.",
      Range{1, 100}, Unit{"passes"},
      Source{"estimate: one pass that deletes and one that finds nothing"},
      Heeded{Fact::DeletedNamespaces});
    v("delete_qps", delete_qps, "Maximum rate of requests that the namespace controller sends.",
      Range{0.1, 1e6}, Unit{"requests/s"},
      Source{"kube-controller-manager: 20 times --kube-api-qps (default 20)"},
      Heeded{Fact::DeletedNamespaces});
    v("grace", grace,
      "How long a worker waits, from its last request until the namespace's objects are gone.",
      Range{Duration{}, 1_h}, Source{"no wait: the job's pods end before the namespace is deleted"},
      Heeded{Fact::DeletedNamespaces});
    v("workers", workers,
      "Namespaces that are deleted in parallel. All workers send through one client, so more "
      "workers help only while some of them wait for `grace`.",
      Range{1, 1'000}, Unit{"namespaces"},
      Source{"kube-controller-manager: --concurrent-namespace-syncs"},
      Heeded{Fact::DeletedNamespaces});
    v("client_qps", client_qps,
      "Requests a second of a client that queries every namespace in turn.", Range{0.1, 1e6},
      Unit{"requests/s"}, Source{"published: Kiali issue 3957, 5 to 10 requests/s"},
      Heeded{Fact::NamespaceAskers});
    v("client_burst", client_burst, "Maximum number of requests that such a client sends at once.",
      Range{1, 100'000}, Unit{"requests"}, Source{"client-go: twice the rate"},
      Heeded{Fact::NamespaceAskers});
  }
};

// Number of requests that the deletion of an empty namespace takes.
constexpr int64_t requests_of_deletion(const NamespaceParams& p) {
  return 2LL * p.api_versions + 2LL * p.resource_types * p.passes;
}

// How long the last of `count` requests waits for its token, if a client sends them all at once.
Duration throttled_time(int64_t count, double qps, int64_t burst);

// How long a client takes to query each namespace in turn, for example to list permissions.
Duration time_to_ask_each(int64_t namespaces, const NamespaceParams& params);

constexpr int64_t objects_of(int64_t namespaces, const NamespaceParams& p) {
  return namespaces * p.objects;
}

// Bytes that a LIST of one resource type reads, over all namespaces.
constexpr Bytes bytes_of_type(int64_t namespaces, const NamespaceParams& p) {
  return p.object_bytes * namespaces;
}

}  // namespace orrery

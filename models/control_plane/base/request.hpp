// models/control_plane/base/request.hpp -- requests to an API server and their responses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class Verb : uint8_t { Get, List, Watch, Create, Update, Patch, Delete, DeleteCollection };
inline constexpr size_t kVerbs = 8;
constexpr std::array<std::string_view, kVerbs> enum_names(Verb) {
  return {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"};
}
constexpr bool is_mutating(Verb verb) { return verb >= Verb::Create; }

enum class ApiResource : uint8_t {
  Pods,
  Nodes,
  Leases,
  Events,
  Services,
  Endpoints,
  EndpointSlices,
  Namespaces,
  ConfigMaps,
  Secrets,
  ServiceAccounts,
  Jobs,
  ReplicaSets,
  StatefulSets,
  DaemonSets,
  CsiNodes,
  CsiDrivers,
  RuntimeClasses,
  CertificateRequests,
  AccessReviews,
};
inline constexpr size_t kApiResources = 20;
constexpr std::array<std::string_view, kApiResources> enum_names(ApiResource) {
  return {"pods",
          "nodes",
          "leases",
          "events",
          "services",
          "endpoints",
          "endpointslices",
          "namespaces",
          "configmaps",
          "secrets",
          "serviceaccounts",
          "jobs",
          "replicasets",
          "statefulsets",
          "daemonsets",
          "csinodes",
          "csidrivers",
          "runtimeclasses",
          "certificaterequests",
          "accessreviews"};
}

// One request. The client sets `level` and `flow` according to the flow schemas.
struct ApiRequest {
  Verb verb = Verb::Get;
  ApiResource resource = ApiResource::Pods;
  bool is_consistent = false;  // a read from etcd instead of the watch cache
  uint8_t level = 0;           // priority level
  uint32_t name_space = 0;     // namespace of the object; 0: cluster-scoped, or all namespaces
  uint64_t flow = 0;           // result of flow_of(), for priority and fairness
  int32_t objects = 1;         // objects that a list reads
  Bytes bytes = {};            // bytes that a read processes, or a write stores
  uint32_t object = 0;         // for a write, the object's name in the store; 0 if it has none
  Bytes answer = {};           // bytes sent to the client
  Duration cpu = {};           // CPU time in addition to the cost by the server's ApiCostParams
};

enum class ApiOutcome : uint8_t { Done, TooManyRequests, Refused, TimedOut, ServerLost };
inline constexpr size_t kApiOutcomes = 5;
constexpr std::array<std::string_view, kApiOutcomes> enum_names(ApiOutcome) {
  return {"done", "too_many_requests", "refused", "timed_out", "server_lost"};
}

struct ApiAnswer {
  ApiOutcome outcome = ApiOutcome::Done;
  Duration retry_after = {};     // for TooManyRequests, how long the client must wait
  uint32_t server = UINT32_MAX;  // the server that responded
  Time as_of = {};               // for a read, the time of the data
};

// Called exactly once for each request, maybe before the function that sends the request returns.
// A lambda that captures two pointers or numbers is stored without an allocation.
using ApiDone = std::function<void(const ApiAnswer& answer)>;

// The store behind the API servers: etcd.
class ApiStore {
 public:
  // Called at most once. `is_done` is false if the request timed out, or if the store rejected it,
  // for example for lack of space. The client stops waiting at `until`. A request that is not done
  // by then may never call `Done`.
  using Done = std::function<void(bool is_done)>;
  virtual void write(const ApiRequest& request, Time until, Done done) = 0;
  virtual void read(const ApiRequest& request, Time until, Done done) = 0;  // a consistent read

 protected:
  ~ApiStore() = default;
};

}  // namespace orrery

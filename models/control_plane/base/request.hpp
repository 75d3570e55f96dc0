// models/control_plane/base/request.hpp -- what a client asks of an API server, and what it
// answers.
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

// One request. Its client finds level and flow from the flow schemas.
struct ApiRequest {
  Verb verb = Verb::Get;
  ApiResource resource = ApiResource::Pods;
  bool is_consistent = false;  // of a read: it goes to the store, not to the watch cache
  uint8_t level = 0;           // of priority
  uint32_t name_space = 0;     // of the object; 0: it has none, or those of all are asked for
  uint64_t flow = 0;           // in priority and fairness: flow_of()
  int32_t objects = 1;         // a list looks through
  Bytes bytes = {};            // a read looks through, or a write stores
  uint32_t object = 0;         // a write: what the store calls it; 0: nothing hangs on which it is
  Bytes answer = {};           // sent to the client
  Duration cpu = {};           // of one core, on top of what the server's parameters charge
};

enum class ApiOutcome : uint8_t { Done, TooManyRequests, Refused, TimedOut, ServerLost };
inline constexpr size_t kApiOutcomes = 5;
constexpr std::array<std::string_view, kApiOutcomes> enum_names(ApiOutcome) {
  return {"done", "too_many_requests", "refused", "timed_out", "server_lost"};
}

struct ApiAnswer {
  ApiOutcome outcome = ApiOutcome::Done;
  Duration retry_after = {};     // of TooManyRequests
  uint32_t server = UINT32_MAX;  // who said so
  Time as_of = {};               // a read: when what it holds was so
};

// Called exactly once for each request, maybe before the call that sent it returns. Two words of
// trivial captures never allocate.
using ApiDone = std::function<void(const ApiAnswer& answer)>;

// Where API servers keep what they serve: etcd.
class ApiStore {
 public:
  // False: the store refused, say for want of space. Called once for each request; maybe never, if
  // it is not done by `until`, after which its client no longer waits.
  using Done = std::function<void(bool is_done)>;
  virtual void write(const ApiRequest& request, Time until, Done done) = 0;
  virtual void read(const ApiRequest& request, Time until, Done done) = 0;  // a consistent one

 protected:
  ~ApiStore() = default;
};

}  // namespace orrery

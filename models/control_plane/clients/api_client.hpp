// models/control_plane/clients/api_client.hpp -- a client with rate limiting and retries.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/base/request.hpp"
#include "models/control_plane/base/token_bucket.hpp"
#include "models/control_plane/clients/api_client_params.hpp"
#include "models/control_plane/flow_control/flow_schemas.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Every try takes a token, and a request has at most `tries_max` tries. After a 429 the client
// waits as long as the response says. If a server is lost with the request, the client waits for a
// backoff plus a random 0 to 100 % of it. The backoff doubles with each loss of the request, up to
// `backoff_max`. The client must outlive the run.
class ApiClient {
 public:
  struct Setup {
    ApiClientKind kind = ApiClientKind::User;
    uint32_t user = 0;  // number of the user, which distinguishes flows
  };
  struct Counters {
    uint64_t sent = 0, answered = 0;   // requests of the caller, without retries
    uint64_t tried = 0, given_up = 0;  // tries; requests rejected or lost at the last try
    Duration throttled = {};           // total wait for tokens, over all tries
  };
  // Clients share `rng`. `params` and `rng` must outlive the client.
  ApiClient(Engine& engine, ApiServers& servers, const ApiClientParams& params, const Setup& setup,
            Rng& rng);
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // Sets the request's priority level and flow. A namespaced request must have its namespace, which
  // may determine the flow. Calls `done` exactly once.
  void send(ApiRequest request, ApiDone done);
  uint32_t connection() const { return connection_; }
  const Counters& counters() const { return counters_; }
  uint32_t present() const { return present_; }  // open requests

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Call {
    ApiRequest request;
    ApiDone done;
    Time due;               // when its token is due
    Duration backoff = {};  // last wait after the loss of a server, without jitter
    int32_t tries = 0;
    // The next request that waits for a token. In a free entry, the next free entry.
    uint32_t next = kNone;
  };
  void take_token(uint32_t call);
  void plan();
  void submit_due();
  void submit(uint32_t call);
  void answered(uint32_t call, const ApiAnswer& answer);

  Engine& engine_;
  ApiServers& servers_;
  const ApiClientParams& params_;
  Rng& rng_;
  ApiUser user_;
  uint32_t connection_;
  std::array<FlowClass, kApiResources> classes_;
  TokenBucket tokens_;
  std::vector<Call> calls_;
  // Indices in calls_: the first free entry; the first and the last request that wait for a token.
  uint32_t free_ = kNone, first_ = kNone, last_ = kNone;
  uint32_t present_ = 0;
  Counters counters_;
};

}  // namespace orrery

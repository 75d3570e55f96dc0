// models/control_plane/clients/api_client.hpp -- sends requests no faster than it may, and tries
// again.
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

// Every try takes a token. After a 429 it waits as long as the answer says; after the loss of a
// server, between once and twice a back-off that doubles. It must outlive the run.
class ApiClient {
 public:
  struct Setup {
    ApiClientKind kind = ApiClientKind::User;
    uint32_t user = 0;  // among those of its kind: flows of users
  };
  struct Counters {
    uint64_t sent = 0, answered = 0;   // requests, as its caller sees them
    uint64_t tried = 0, given_up = 0;  // tries; requests that were turned away or lost at the last
    Duration throttled = {};           // by its own tokens, all tries together
  };
  // `rng` is shared by clients, and must outlive them.
  ApiClient(Engine& engine, ApiServers& servers, const ApiClientParams& params, const Setup& setup,
            Rng& rng);
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  // Finds level and flow of the request, whose namespace must be set if it has one. Calls `done`
  // exactly once.
  void send(ApiRequest request, ApiDone done);
  uint32_t connection() const { return connection_; }
  const Counters& counters() const { return counters_; }
  uint32_t present() const { return present_; }  // requests that are not answered yet

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Call {
    ApiRequest request;
    ApiDone done;
    Time due;               // of its token
    Duration backoff = {};  // the last
    int32_t tries = 0;
    uint32_t next = kNone;  // that waits for a token; free: the next that is
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
  uint32_t free_ = kNone, first_ = kNone, last_ = kNone;  // first and last that wait for a token
  uint32_t present_ = 0;
  Counters counters_;
};

}  // namespace orrery

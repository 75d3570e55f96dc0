// models/control_plane/api_server/api_servers.hpp -- the API servers of a cluster, and which
// clients use which server.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/control_plane/api_server/api_server.hpp"
#include "models/control_plane/api_server/api_server_params.hpp"
#include "models/control_plane/api_server/watch_caches.hpp"
#include "models/control_plane/base/api_statistics.hpp"
#include "models/control_plane/base/request.hpp"
#include "models/control_plane/base/steady_source.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

class ApiServers {
 public:
  struct Context {
    Engine& engine;
    ApiStore& store;
    int64_t nodes = 0;
  };
  ApiServers(const Context& context, const ApiServersParams& params, Rng rng);
  ApiServers(const ApiServers&) = delete;
  ApiServers& operator=(const ApiServers&) = delete;

  // Returns the user number of a new service account. Nodes and their daemons have lower numbers.
  uint32_t new_account() { return accounts_++; }
  // Returns a new connection of a client. Its first request goes to a random server. If balance is
  // sticky, later requests go to the same server until this server is lost.
  uint32_t connect();
  // Returns the connection's server, or UINT32_MAX if no server is up. The connection moves to a
  // random server if it has no server yet, if its server was lost, or if balance is per_request.
  uint32_t server_of(uint32_t connection);
  // If no server is up, `done` is called at once, with ApiOutcome::ServerLost.
  void submit(uint32_t connection, const ApiRequest& request, ApiDone done);

  uint32_t size() const { return static_cast<uint32_t>(servers_.size()); }
  ApiServer& server(uint32_t index) { return *servers_[index]; }
  const ApiServer& server(uint32_t index) const { return *servers_[index]; }
  uint32_t up() const;
  Signal<uint32_t> lost;  // a server and all watches on it are lost

  // Sets the load of one source in one priority level, for all servers together. The servers that
  // are up share this load evenly.
  void set_steady(uint32_t level, const SteadyLoad& load,
                  SteadySource source = SteadySource::Heartbeats);
  using Sent = std::function<void()>;
  // Sends a change of `bytes` to each watcher of a resource through the watcher's server. A server
  // with n > 0 watchers uses `cpu` + n x `cpu_per_watcher`, on about one thread for each
  // millisecond of this CPU time, but on at most min(n, cores) threads. Calls `done` once server
  // `of_server` has sent the change. `done` is never called if that server has no watcher of the
  // resource, or is lost before it has sent the change.
  void tell_watchers(ApiResource resource, Duration cpu, Duration cpu_per_watcher, Bytes bytes,
                     uint32_t of_server = UINT32_MAX, const Sent& done = {});
  // Sends a change to `watching` watchers of one server. `cpu` and `bytes` are totals.
  void tell(uint32_t server, int64_t watching, Duration cpu, Bytes bytes, const Sent& done = {});
  void set_nodes(int64_t nodes);
  void set_cached(Bytes heap);  // memory of namespaces with their objects, on each server

  const ApiServersParams& params() const { return params_; }
  const ApiStatistics& statistics() const { return statistics_; }
  ApiStatistics& statistics() { return statistics_; }
  WatchCaches& watch_caches() { return watch_caches_; }
  const WatchCaches& watch_caches() const { return watch_caches_; }
  int64_t watchers(ApiResource resource) const;
  void audit() const;

 private:
  struct Connection {
    uint32_t server = UINT32_MAX;
    uint64_t losses = 0;  // number of the server's losses when the client connected
  };
  bool pick(Connection& connection);
  bool reach(Connection& connection);  // picks a server if needed; false: no server is up
  void spread_steady();

  ApiServersParams params_;
  ApiStatistics statistics_;
  WatchCaches watch_caches_;
  Rng rng_;
  std::vector<std::unique_ptr<ApiServer>> servers_;
  std::vector<Connection> connections_;
  uint32_t accounts_ = 1U << 24;
  std::vector<std::array<SteadyLoad, kSteadySources>> steady_;  // by level
};

}  // namespace orrery

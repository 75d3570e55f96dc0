// models/control_plane/api_server/watch_caches.hpp -- the recent changes that each API
// server keeps for its watches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/control_plane/api_server/watch_cache.hpp"
#include "models/control_plane/base/request.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// A watch cache of each server for each kind of object that reflectors watch. All hear of the same
// changes, so that those of servers which were never lost are one and the same. A server that was
// lost begins with a LIST from etcd and remembers nothing: clients that watched before must list
// anew, clients that watched another server since then need not.
class WatchCaches {
 public:
  WatchCaches(Engine& engine, uint32_t servers) : engine_{engine}, servers_(servers) {}

  void keep(ApiResource resource);                            // somebody will watch it
  void changed(ApiResource resource);                         // etcd took a change
  void set_rate(ApiResource resource, double changes_per_s);  // of steady ones
  void begin_anew(uint32_t server);
  // Somebody asks this server for all that changed after an instant. False: it is 410 Gone.
  bool resume(uint32_t server, ApiResource resource, Time seen);

  uint64_t gone(uint32_t server) const { return servers_[server].gone; }  // so often
  uint64_t gone() const;

 private:
  struct Server {
    uint32_t cache = 0;  // among those of a resource; 0: of the servers that were never lost
    uint64_t gone = 0;
  };
  std::vector<WatchCache>& of(ApiResource resource) {
    return caches_[static_cast<size_t>(resource)];
  }

  Engine& engine_;
  std::vector<Server> servers_;
  uint32_t of_lost_ = 0;                                       // servers that were
  std::array<std::vector<WatchCache>, kApiResources> caches_;  // of those that are watched
};

}  // namespace orrery

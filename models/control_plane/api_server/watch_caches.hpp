// models/control_plane/api_server/watch_caches.hpp -- the watch caches of all API servers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/control_plane/api_server/watch_cache.hpp"
#include "models/control_plane/base/request.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Each server has a watch cache for each kind of object that reflectors watch. All caches get the
// same changes, so one WatchCache stands for the caches of all servers that were never lost. A
// restarted server lists the objects from etcd, but its watch caches have no changes from before
// the restart. So a client whose last event is older than the restart must list again. A client
// that got a later event from another server resumes its watch.
class WatchCaches {
 public:
  WatchCaches(Engine& engine, uint32_t servers) : engine_{engine}, servers_(servers) {}

  void keep(ApiResource resource);     // starts caching a resource that clients will watch
  void changed(ApiResource resource);  // to be called when etcd commits a change
  void set_rate(ApiResource resource, double changes_per_s);  // rate of steady changes
  void restart(uint32_t server);
  // Resumes a client's watch on this server with the changes after `seen`. Returns false if the
  // server answers 410 Gone.
  bool resume(uint32_t server, ApiResource resource, Time seen);

  uint64_t gone(uint32_t server) const { return servers_[server].gone; }  // number of 410 responses
  uint64_t gone() const;

 private:
  struct Server {
    uint32_t cache = 0;  // index among the caches of a resource; 0: shared by servers never lost
    uint64_t gone = 0;
  };
  std::vector<WatchCache>& of(ApiResource resource) {
    return caches_[static_cast<size_t>(resource)];
  }

  Engine& engine_;
  std::vector<Server> servers_;
  uint32_t of_lost_ = 0;  // number of servers that were ever lost
  // By resource; no caches if no client watches the resource.
  std::array<std::vector<WatchCache>, kApiResources> caches_;
};

}  // namespace orrery

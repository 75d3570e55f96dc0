// models/control_plane/clients/watch_news.hpp -- delivers watch events to clients.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/clients/reflectors.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Delivers watch events to reflectors. An event arrives once the server of the watch has encoded
// and sent the event, which takes longer while the server is busy. The events of a watch arrive in
// the order of the changes. Events for a reflector without a watch wait until the reflector has
// synced.
//
// Example: the server of a reflector is lost, and two changes follow. 2.1 s after the loss, the
// reflector syncs with another server: then both changes arrive.
class WatchNews {
 public:
  using Delivered = std::function<void()>;
  struct Event {
    ApiResource resource = ApiResource::Pods;
    Duration cpu = {};  // CPU time to encode the event, once for each server
    Bytes bytes = {};   // sent to each watcher
  };
  WatchNews(Engine& engine, ApiServers& servers, Reflectors& reflectors);

  // Sends a change to all clients that watch the whole resource.
  void changed(const Event& event) { send_to_all(event, UINT32_MAX, {}); }
  // Sends a change to all clients that watch the whole resource. `reflector` must be one of them.
  // Calls `delivered` once `reflector` has the event.
  void changed(const Event& event, uint32_t reflector, Delivered delivered);
  // Sends the event to `reflector` alone, which must watch only a part of the resource, such as the
  // pods of one node. Calls `delivered` once `reflector` has the event.
  void tell(const Event& event, uint32_t reflector, Delivered delivered);
  // Ends the watches of a client that is gone, for example because its node failed. The client's
  // pending callbacks are still called, later in this instant, so that no caller waits forever.
  void end(uint32_t reflector);

 private:
  struct Line {
    std::list<Delivered> news;  // events on their way, oldest first
    uint32_t syncs = 0;  // number of syncs; callbacks from before the last sync have no effect
  };
  Line& line(uint32_t reflector);
  void send_to_all(const Event& event, uint32_t server, Delivered done);
  Delivered arrival(uint32_t reflector, Delivered delivered);
  void arrives(uint32_t reflector);
  void synced(uint32_t reflector);

  Engine& engine_;
  ApiServers& servers_;
  Reflectors& reflectors_;
  std::vector<Line> lines_;  // by reflector
};

}  // namespace orrery

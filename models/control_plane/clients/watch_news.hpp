// models/control_plane/clients/watch_news.hpp -- news of objects, on its way to clients that watch.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/clients/reflectors.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// News reaches a reflector through the watch on its server, in the order of the changes: once the
// server has encoded and sent the event, which takes longer while the server is busy. The news of a
// reflector without a watch waits, and arrives when the reflector has synced.
//
// Example: a server encodes an event in 40 us and is lost. Two changes follow. The reflector syncs
// with another server 2.1 s after the loss: then it learns of both.
class WatchNews {
 public:
  using Delivered = std::function<void()>;
  struct Event {
    ApiResource resource = ApiResource::Pods;
    Duration cpu = {};  // to encode it, once a server
    Bytes bytes = {};   // sent to each watcher
  };
  WatchNews(Engine& engine, ApiServers& servers, Reflectors& reflectors);

  // A change that all watchers of the resource are sent.
  void changed(const Event& event) { send_to_all(event, UINT32_MAX, {}); }
  // The same; calls `delivered` once the reflector, one of those watchers, has the news.
  void changed(const Event& event, uint32_t reflector, Delivered delivered);
  // The event alone, to a reflector that watches few objects. Calls `delivered` as above.
  void tell(const Event& event, uint32_t reflector, Delivered delivered);
  // The client is gone, say with its node. Callbacks that still wait run in an event of this
  // instant, so that no caller waits forever.
  void end(uint32_t reflector);

 private:
  struct Line {
    std::deque<Delivered> news;  // oldest first
    uint32_t syncs = 0;          // what an earlier watch was sent arrives with the sync instead
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

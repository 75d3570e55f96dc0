// models/control_plane/clients/reflectors.hpp -- clients that list a resource and then watch it,
// for good.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/base/backoff.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Many reflectors. Each lists, then watches; when its server is lost, it waits between once and
// twice a back-off, which doubles from try to try, and asks another for what changed since. If that
// one does not remember all of it, the reflector waits once more and lists anew. Thousands of them
// at once make the storm that follows the loss of a server. One that watches few objects among many
// learns how far it has seen by bookmarks alone: its own changes are rare.
class Reflectors {
 public:
  struct Params {
    Backoff backoff = {.first = 800_ms, .max = 30_s};
    Duration backoff_reset = 2_min;
    Duration bookmark_period = 1_min;  // of servers
  };
  struct Spec {
    ApiClient& client;
    ApiRequest list;                    // verb and flow are filled in
    bool is_narrow = false;             // it watches few objects, such as the pods of one node
    const ApiRequest* sizes = nullptr;  // objects and bytes of a list now, if they change
  };
  Reflectors(Engine& engine, ApiServers& servers, Params params, Rng rng);

  uint32_t add(const Spec& spec);  // it does nothing until it is started
  void start(uint32_t reflector);
  void start_synced(uint32_t reflector);  // it listed before the run, and watches now
  void stop(uint32_t reflector);          // its watch ends; it may be started again
  bool is_watching(uint32_t reflector) const {
    return reflectors_[reflector].state == State::Watching;
  }
  uint32_t server_of(uint32_t reflector) const {  // that watches
    return reflectors_[reflector].server;
  }
  uint32_t watching() const { return watching_; }
  uint32_t watching_on(uint32_t server) const {
    return static_cast<uint32_t>(on_server_[server].size());
  }
  uint64_t lists() const { return lists_; }  // that were answered
  // Emitted when a reflector has listed what it lacks, and watches.
  Signal<uint32_t> synced;

 private:
  enum class State : uint8_t { Stopped, Listing, Connecting, Watching, BackingOff };
  struct Reflector {
    ApiClient* client = nullptr;
    ApiRequest list;
    const ApiRequest* sizes = nullptr;
    bool is_narrow = false, has_listed = false;
    State state = State::Stopped;
    uint32_t generation = 0;         // of its start: older answers mean nothing
    uint32_t server = 0, place = 0;  // where it watches, and its place among those who do
    Duration backoff = {};           // the last
    Time watches_since;
    Time seen;  // of what changed until then it knows all; while it watches, when it began
  };
  void list(uint32_t reflector);
  void watch(uint32_t reflector);
  void answered(uint64_t ticket, const ApiAnswer& answer);
  void begin_watch(uint32_t reflector, uint32_t server);
  void back_off(uint32_t reflector);
  Time seen_by(const Reflector& reflector) const;  // that watches
  void lose(uint32_t server);
  void count_watch(const Reflector& reflector, int32_t change);
  uint64_t ticket(uint32_t reflector) const {
    return uint64_t{reflectors_[reflector].generation} << 32 | reflector;
  }

  Engine& engine_;
  ApiServers& servers_;
  Params params_;
  Rng rng_;
  std::vector<Reflector> reflectors_;
  std::vector<std::vector<uint32_t>> on_server_;  // those that watch, by server
  uint32_t watching_ = 0;
  uint64_t lists_ = 0;
};

}  // namespace orrery

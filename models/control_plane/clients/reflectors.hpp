// models/control_plane/clients/reflectors.hpp -- clients that list a resource once and then watch
// it.
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

// Each reflector lists, then watches. When its server is lost, the reflector waits for a random
// time between one and two times its backoff, which doubles from try to try. Then the reflector
// asks another server for the changes after the reflector's resourceVersion. If the watch cache of
// that server no longer holds these changes (410 Gone), the reflector waits and lists again. If
// thousands of reflectors do so at once, their LISTs are the list storm after the loss of a server.
// A reflector that watches few of many objects rarely gets an event, so only bookmarks advance its
// resourceVersion. Example: the server of such a reflector is lost 20 s after the last bookmark.
// Another server, which caches the last 15 s, answers 410, and the reflector lists.
class Reflectors {
 public:
  struct Params {
    Backoff backoff = {.first = 800_ms, .max = 30_s};
    Duration backoff_reset = 2_min;    // a watch that lasted longer resets the backoff
    Duration bookmark_period = 1_min;  // interval at which servers send bookmarks
  };
  struct Spec {
    ApiClient& client;
    ApiRequest list;                    // the caller leaves out verb and flow
    bool is_narrow = false;             // watches few objects, such as the pods of one node
    const ApiRequest* sizes = nullptr;  // the list's present size, if it changes
  };
  Reflectors(Engine& engine, ApiServers& servers, Params params, Rng rng);

  uint32_t add(const Spec& spec);  // idle until it is started
  void start(uint32_t reflector);
  void start_synced(uint32_t reflector);  // without a LIST, for a client that has listed before
  void stop(uint32_t reflector);          // ends its watch; it may be started again
  bool is_watching(uint32_t reflector) const {
    return reflectors_[reflector].state == State::Watching;
  }
  uint32_t server_of(uint32_t reflector) const {  // the reflector must be watching
    return reflectors_[reflector].server;
  }
  uint32_t watching() const { return watching_; }
  uint32_t watching_on(uint32_t server) const {
    return static_cast<uint32_t>(on_server_[server].size());
  }
  uint64_t lists() const { return lists_; }  // LISTs that succeeded
  // Emitted when a reflector begins to watch. The reflector then has all changes so far.
  Signal<uint32_t> synced;

 private:
  enum class State : uint8_t { Stopped, Listing, Connecting, Watching, BackingOff };
  struct Reflector {
    ApiClient* client = nullptr;
    ApiRequest list;
    const ApiRequest* sizes = nullptr;
    bool is_narrow = false, has_listed = false;
    State state = State::Stopped;
    // Number of stops. Responses to requests that were sent before the last stop are dropped.
    uint32_t generation = 0;
    uint32_t server = 0, place = 0;  // the server that it watches, and its index in on_server_
    Duration backoff = {};           // the last wait
    Time watches_since;
    // Time up to which the reflector has all changes; not updated during a watch.
    Time seen;
  };
  void list(uint32_t reflector);
  void watch(uint32_t reflector);
  void answered(uint64_t ticket, const ApiAnswer& answer);
  void begin_watch(uint32_t reflector, uint32_t server);
  void back_off(uint32_t reflector);
  Time seen_by(const Reflector& reflector) const;  // the reflector must be watching
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
  std::vector<std::vector<uint32_t>> on_server_;  // watching reflectors, by server
  uint32_t watching_ = 0;
  uint64_t lists_ = 0;
};

}  // namespace orrery

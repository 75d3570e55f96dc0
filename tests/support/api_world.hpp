// tests/support/api_world.hpp -- API servers on an engine, with a store of settable latency.
#pragma once

#include <utility>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/base/request.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"

namespace orrery::test {

// A store in which every write takes `write_time` and every read `read_time`, however many writes
// and reads run at once.
class SlowStore final : public ApiStore {
 public:
  explicit SlowStore(Engine& engine) : engine_{engine} {}
  void write(const ApiRequest&, Time until, Done done) override {
    answer(write_time, until, std::move(done));
  }
  void read(const ApiRequest&, Time until, Done done) override {
    answer(read_time, until, std::move(done));
  }

  Duration write_time = {}, read_time = {};
  bool refuses = false;
  bool gives_up = false;  // drops requests that would end after their deadline
  uint64_t asked = 0;

 private:
  void answer(Duration time, Time until, Done done) {
    ++asked;
    if (time.ns == 0) return done(!refuses);
    if (gives_up && engine_.now() + time > until) return;
    engine_.after(time, Label{"test.stored"},
                  [done = std::move(done), takes = !refuses] { done(takes); });
  }
  Engine& engine_;
};

// Servers whose own costs are zero. A request costs only its `cpu` and the latency of the store.
inline ApiServersParams free_servers(int32_t servers = 1) {
  ApiServersParams params;
  params.servers = servers;
  params.server.cost = {.read = {},
                        .write = {},
                        .watch = {},
                        .cached_object = 0,
                        .stored_object = 0,
                        .stored_byte = 0,
                        .sent_byte = 0};
  params.server.egress = {};
  return params;
}

// Flow control with one priority level, which has `seats` seats and one queue without limit.
inline FlowControlParams one_level(int32_t seats) {
  FlowControlParams flow;
  flow.max_requests_inflight = seats - seats / 2;
  flow.max_mutating_requests_inflight = seats / 2;
  flow.levels = {{.name = "all",
                  .kind = LevelKind::Queue,
                  .shares = 1,
                  .queues = 1,
                  .hand_size = 1,
                  .queue_length = 1'000'000'000}};
  flow.schemas = {{.name = "all", .level = "all"}};
  return flow;
}

struct ApiWorld {
  explicit ApiWorld(const ApiServersParams& params, uint64_t seed = 1, int64_t nodes = 0)
      : streams{seed}, servers{{engine, store, nodes}, params, streams.stream("test.servers")} {}
  ApiServer& server(uint32_t index = 0) { return servers.server(index); }

  Engine engine;
  RngStreams streams;
  SlowStore store{engine};
  ApiServers servers;
};

}  // namespace orrery::test

#include "models/control_plane/api_server/api_servers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// A server sends a change to its watchers with at most one thread, plus one for each full 1 ms of
// CPU time that the sending takes. This limit makes the simulator faster.
constexpr Duration kWorthAThread = 1_ms;

}  // namespace

ApiServers::ApiServers(const Context& context, const ApiServersParams& params, Rng rng)
    : params_{params},
      statistics_{params.flow_control.levels.size()},
      watch_caches_{context.engine, static_cast<uint32_t>(params.servers)},
      rng_{rng},
      steady_(params.flow_control.levels.size()) {
  for (uint32_t s = 0; s < static_cast<uint32_t>(params.servers); ++s) {
    servers_.push_back(std::make_unique<ApiServer>(ApiServerContext{.engine = context.engine,
                                                                    .params = params_,
                                                                    .store = context.store,
                                                                    .statistics = statistics_,
                                                                    .nodes = context.nodes,
                                                                    .index = s}));
    servers_.back()->lost.connect([this, s] {
      spread_steady();
      lost.emit(s);
    });
    servers_.back()->recovered.connect([this, s] {
      watch_caches_.restart(s);
      spread_steady();
    });
  }
}

uint32_t ApiServers::connect() {
  connections_.emplace_back();
  return static_cast<uint32_t>(connections_.size() - 1);
}

uint32_t ApiServers::up() const {
  return static_cast<uint32_t>(
      std::ranges::count_if(servers_, [](const auto& server) { return server->is_up(); }));
}

// Connects to a random server that is up. Returns false if no server is up.
bool ApiServers::pick(Connection& connection) {
  for (bool is_sure = false;;) {
    const auto s = static_cast<uint32_t>(rng_.below(servers_.size()));
    if (servers_[s]->is_up()) {
      connection = {s, servers_[s]->losses()};
      return true;
    }
    if (!is_sure && up() == 0) return false;
    is_sure = true;
  }
}

bool ApiServers::reach(Connection& connection) {
  const bool is_open = params_.balance == ApiBalance::Sticky && connection.server < size() &&
                       servers_[connection.server]->is_up() &&
                       servers_[connection.server]->losses() == connection.losses;
  return is_open || pick(connection);
}

uint32_t ApiServers::server_of(uint32_t id) {
  return reach(connections_[id]) ? connections_[id].server : UINT32_MAX;
}

void ApiServers::submit(uint32_t id, const ApiRequest& request, ApiDone done) {
  Connection& connection = connections_[id];
  if (!reach(connection)) {
    statistics_.record(request.level, request.verb, ApiOutcome::ServerLost, {});
    return done({.outcome = ApiOutcome::ServerLost});
  }
  servers_[connection.server]->submit(request, std::move(done));
}

void ApiServers::set_steady(uint32_t level, const SteadyLoad& load, SteadySource source) {
  steady_[level][static_cast<size_t>(source)] = load;
  spread_steady();
}

void ApiServers::spread_steady() {
  const uint32_t n = up();
  for (const auto& server : servers_) {
    for (uint32_t level = 0; level < steady_.size(); ++level) {
      SteadyLoad part = sum_of(steady_[level]);
      part.requests_per_s = server->is_up() ? part.requests_per_s / n : 0;
      server->set_steady(level, part);
    }
  }
}

void ApiServers::tell_watchers(ApiResource resource, Duration cpu, Duration cpu_per_watcher,
                               Bytes bytes, uint32_t of_server, const Sent& done) {
  for (uint32_t s = 0; s < size(); ++s) {
    const int64_t watching = servers_[s]->watchers(resource);
    tell(s, watching, cpu + cpu_per_watcher * watching, bytes * watching,
         s == of_server ? done : Sent{});
  }
}

void ApiServers::tell(uint32_t server, int64_t watching, Duration cpu, Bytes bytes,
                      const Sent& done) {
  if (watching == 0) return;
  const auto cores = static_cast<int64_t>(std::ceil(params_.server.cores));
  const int64_t threads = std::min({watching, cores, cpu / kWorthAThread + 1});
  servers_[server]->charge(
      {.cpu = cpu, .sent = bytes, .threads = static_cast<int32_t>(threads), .done = done});
}

void ApiServers::set_nodes(int64_t nodes) {
  for (const auto& server : servers_) server->set_nodes(nodes);
}

void ApiServers::set_cached(Bytes heap) {
  for (const auto& server : servers_) server->set_cached(heap);
}

int64_t ApiServers::watchers(ApiResource resource) const {
  int64_t sum = 0;
  for (const auto& server : servers_) sum += server->watchers(resource);
  return sum;
}

void ApiServers::audit() const {
  for (const auto& server : servers_) server->audit();
}

}  // namespace orrery

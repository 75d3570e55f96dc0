// models/control_plane/services/service_watchers.hpp -- watchers of services' addresses, the API
// servers that serve the watchers, and the costs of watch events.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/reflectors.hpp"
#include "models/control_plane/nodes/node_clients.hpp"
#include "models/control_plane/services/services_params.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// A write of an object costs each API server at most one ApiServer::charge(), which covers all of
// the server's watchers that get the change. Watchers on nodes start and stop with their nodes.
// When a server is lost, its watchers move to other servers. A LIST has the size of all addresses
// that its watcher may see. Agents, if any, watch in place of the daemons. The daemons then cost
// the servers nothing. Kube-proxies and daemons use the clients of their nodes.
class ServiceWatchers {
 public:
  struct Context {
    Sim sim;
    ApiServers& servers;
    NodeClients& node_clients;
    uint32_t nodes = 0;
  };
  ServiceWatchers(const Context& context, const ServicesParams& params,
                  const ApiClientParams& others);
  ServiceWatchers(const ServiceWatchers&) = delete;
  ServiceWatchers& operator=(const ServiceWatchers&) = delete;

  void start(const std::vector<bool>& is_up);  // `is_up`: by node; all watchers begin synced
  void node_up(NodeId node);
  void node_down(NodeId node);

  struct Costs {
    FanOutCost by_servers, by_agents;
  };
  void stored(const ObjectWrite& write, bool is_headless);  // LISTs include the write from now on
  Costs notify(const ObjectWrite& write, bool is_headless);

  ApiResource resource() const { return resource_; }
  uint64_t lists() const;  // LISTs that succeeded

 private:
  enum class Who : uint8_t { KubeProxy, Daemon, Controller, Agent };
  static constexpr size_t kWhos = 4;
  void add(Who who, ApiClient& client);
  ApiClient& add_client(uint32_t account);
  Reflectors& of(Who who) { return *reflectors_[static_cast<size_t>(who)]; }
  template <class F>
  void for_each_on(NodeId node, F&& f);  // kube-proxy and daemons of the node

  ApiServers& servers_;
  Engine& engine_;
  ServicesParams params_;
  ApiClientParams others_;
  ApiResource resource_;
  int64_t nodes_up_ = 0;
  uint32_t daemons_;  // number of daemons on each node with their own watch
  // The present sizes of LISTs: of all objects, and of the objects that kube-proxies see.
  ApiRequest all_, of_proxies_;
  Rng rng_;
  std::vector<std::unique_ptr<ApiClient>> clients_;  // clients of controllers and agents
  std::array<std::unique_ptr<Reflectors>, kWhos> reflectors_;
};

}  // namespace orrery

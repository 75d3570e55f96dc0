// models/control_plane/services/service_watchers.hpp -- who watches the addresses of services, on
// which server, and what telling them costs.
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

// A change is one charge of each server, however many watch there. Watchers come and go with their
// nodes, and move to other servers when theirs is lost; what they list then is as large as all
// addresses that they may see. Watchers behind agents cost servers nothing. Kube-proxies and
// daemons are the clients of their nodes, which ask for more as these boot.
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

  void start(const std::vector<bool>& is_up);  // by node; all are up to date
  void node_up(NodeId node);
  void node_down(NodeId node);

  struct Costs {
    FanOutCost by_servers, by_agents;
  };
  void stored(const ObjectWrite& write, bool is_headless);  // lists show it from now on
  Costs notify(const ObjectWrite& write, bool is_headless);

  ApiResource resource() const { return resource_; }
  uint64_t lists() const;  // that were answered

 private:
  enum class Who : uint8_t { KubeProxy, Daemon, Controller, Agent };
  static constexpr size_t kWhos = 4;
  void add(Who who, ApiClient& client);
  ApiClient& add_client(uint32_t account);
  Reflectors& of(Who who) { return *reflectors_[static_cast<size_t>(who)]; }
  template <class F>
  void for_each_on(NodeId node, F&& f);  // its kube-proxy and daemons

  ApiServers& servers_;
  Engine& engine_;
  ServicesParams params_;
  ApiClientParams others_;
  ApiResource resource_;
  int64_t nodes_up_ = 0;
  uint32_t daemons_;             // on each node, by themselves
  ApiRequest all_, of_proxies_;  // sizes of lists
  Rng rng_;
  std::vector<std::unique_ptr<ApiClient>> clients_;  // of controllers and agents
  std::array<std::unique_ptr<Reflectors>, kWhos> reflectors_;
};

}  // namespace orrery

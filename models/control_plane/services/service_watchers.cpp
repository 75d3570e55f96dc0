#include "models/control_plane/services/service_watchers.hpp"

namespace orrery {
namespace {

void count(ApiRequest& list, const ObjectWrite& write) {
  using Change = ObjectWrite::Change;
  if (write.change == Change::Create) ++list.objects;
  if (write.change == Change::Delete) --list.objects;
  list.bytes = list.bytes - write.bytes_before;
  if (write.change != Change::Delete) list.bytes = list.bytes + write.bytes;
  list.answer = list.bytes;
}

}  // namespace

ServiceWatchers::ServiceWatchers(const Context& context, const ServicesParams& params,
                                 const ApiClientParams& others)
    : servers_{context.servers},
      engine_{context.sim.engine},
      params_{params},
      others_{others},
      resource_{params_.endpoints.kind == EndpointsKind::Endpoints ? ApiResource::Endpoints
                                                                   : ApiResource::EndpointSlices},
      daemons_{params_.watchers.agents > 0 ? 0U : static_cast<uint32_t>(params_.watchers.daemons)},
      rng_{context.sim.rng.stream("control_plane.services.clients")} {
  all_.objects = of_proxies_.objects = 0;
  for (size_t who = 0; who < kWhos; ++who) {
    reflectors_[who] = std::make_unique<Reflectors>(
        engine_, servers_, Reflectors::Params{},
        context.sim.rng.stream("control_plane.services.watchers", static_cast<uint64_t>(who)));
  }
  NodeClients& on_nodes = context.node_clients;
  for (uint32_t n = 0; n < context.nodes; ++n) {
    if (params_.watchers.kube_proxies) add(Who::KubeProxy, on_nodes.of({n}, kKubeProxy));
    for (uint32_t d = 0; d < daemons_; ++d) add(Who::Daemon, on_nodes.of({n}, kFirstDaemon + d));
  }
  for (int32_t i = 0; i < params_.watchers.controllers; ++i) {
    add(Who::Controller, add_client(servers_.new_account()));
  }
  // All agents share one account, because they are replicas of one program.
  const uint32_t of_agents = servers_.new_account();
  for (int32_t i = 0; i < params_.watchers.agents; ++i) add(Who::Agent, add_client(of_agents));
}

ApiClient& ServiceWatchers::add_client(uint32_t account) {
  clients_.push_back(std::make_unique<ApiClient>(
      engine_, servers_, others_,
      ApiClient::Setup{.kind = ApiClientKind::ServiceAccount, .user = account}, rng_));
  return *clients_.back();
}

void ServiceWatchers::add(Who who, ApiClient& client) {
  const bool sees_less = who == Who::KubeProxy && params_.fan_out.has_headless_filter;
  of(who).add({.client = client,
               .list = {.resource = resource_},
               .sizes = sees_less ? &of_proxies_ : &all_});
}

template <class F>
void ServiceWatchers::for_each_on(NodeId node, F&& f) {
  if (params_.watchers.kube_proxies) f(of(Who::KubeProxy), node.index);
  for (uint32_t d = 0; d < daemons_; ++d) f(of(Who::Daemon), node.index * daemons_ + d);
}

void ServiceWatchers::start(const std::vector<bool>& is_up) {
  for (uint32_t n = 0; n < is_up.size(); ++n) {
    if (!is_up[n]) continue;
    ++nodes_up_;
    for_each_on(NodeId{n}, [](Reflectors& them, uint32_t id) { them.start_synced(id); });
  }
  for (int32_t i = 0; i < params_.watchers.controllers; ++i) {
    of(Who::Controller).start_synced(static_cast<uint32_t>(i));
  }
  for (int32_t i = 0; i < params_.watchers.agents; ++i) {
    of(Who::Agent).start_synced(static_cast<uint32_t>(i));
  }
}

void ServiceWatchers::node_up(NodeId node) {
  ++nodes_up_;
  for_each_on(node, [](Reflectors& them, uint32_t id) { them.start(id); });
}

void ServiceWatchers::node_down(NodeId node) {
  --nodes_up_;
  for_each_on(node, [](Reflectors& them, uint32_t id) { them.stop(id); });
}

void ServiceWatchers::stored(const ObjectWrite& write, bool is_headless) {
  count(all_, write);
  if (!is_headless) count(of_proxies_, write);
}

ServiceWatchers::Costs ServiceWatchers::notify(const ObjectWrite& write, bool is_headless) {
  Costs costs;
  for (uint32_t s = 0; s < servers_.size(); ++s) {
    const Subscribers there{.kube_proxies = of(Who::KubeProxy).watching_on(s),
                            .daemons = of(Who::Daemon).watching_on(s),
                            .controllers = of(Who::Controller).watching_on(s),
                            .agents = of(Who::Agent).watching_on(s)};
    const int64_t watching = there.at_servers(is_headless, params_.fan_out);
    const FanOutCost cost = fan_out(write, watching, params_.fan_out);
    servers_.tell(s, watching, cost.cpu, cost.egress);
    costs.by_servers += cost;
  }
  if (of(Who::Agent).watching() > 0) {
    const Subscribers all{.behind_agents = nodes_up_ * params_.watchers.daemons};
    costs.by_agents = fan_out_of_agents(write, all, params_.fan_out);
  }
  return costs;
}

uint64_t ServiceWatchers::lists() const {
  uint64_t sum = 0;
  for (const auto& them : reflectors_) sum += them->lists();
  return sum;
}

}  // namespace orrery

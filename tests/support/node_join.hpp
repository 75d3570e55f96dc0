// tests/support/node_join.hpp -- what nodes ask of API servers when they join a cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/control_plane/reflectors.hpp"
#include "tests/support/api_world.hpp"

namespace orrery::test {

// Each node: its kubelet registers and lists five resources, its kube-proxy lists three, and eight
// agents ask for what they need, some 40 requests, all listing before they watch.
class NodeJoin {
 public:
  NodeJoin(ApiWorld& world, int32_t nodes, Duration spread) : world_{world} {
    for (int32_t i = 0; i < nodes; ++i) {
      const Duration at{spread.ns * i / nodes};
      world_.engine.after(at, Label{"test.node_joins"}, [this, i] { join(i); });
    }
  }

 private:
  static constexpr Bytes kServiceSize{1'000};
  static constexpr int32_t kServices = 10'000, kSlices = 10'000;

  ApiClient& client(ApiClientKind kind, int32_t node) {
    clients_.push_back(std::make_unique<ApiClient>(
        world_.engine, world_.servers, params_.of(kind),
        ApiClient::Setup{.kind = kind, .user = static_cast<uint32_t>(node)}, rng_));
    return *clients_.back();
  }
  void watch(ApiClient& by, ApiResource resource, int32_t objects, Bytes each) {
    reflectors_.start(reflectors_.add({.client = by,
                                       .list = {.resource = resource,
                                                .objects = objects,
                                                .bytes = each * objects,
                                                .answer = each * objects},
                                       .is_narrow = objects < kServices}));
  }
  static void ask(ApiClient& by, Verb verb, ApiResource resource, Bytes size) {
    by.send({.verb = verb, .resource = resource, .bytes = size, .answer = size},
            [](const ApiAnswer&) {});
  }
  void join(int32_t node) {
    ApiClient& kubelet = client(ApiClientKind::Kubelet, node);
    ask(kubelet, Verb::Create, ApiResource::CertificateRequests, {2'000});
    ask(kubelet, Verb::Create, ApiResource::Nodes, {15'000});
    ask(kubelet, Verb::Create, ApiResource::Leases, {300});
    ask(kubelet, Verb::Create, ApiResource::CsiNodes, {1'000});
    for (int32_t i = 0; i < 3; ++i) ask(kubelet, Verb::Patch, ApiResource::Nodes, {15'000});
    watch(kubelet, ApiResource::Services, kServices, kServiceSize);
    watch(kubelet, ApiResource::Nodes, 1, {15'000});
    watch(kubelet, ApiResource::Pods, 10, {5'000});
    watch(kubelet, ApiResource::RuntimeClasses, 2, {500});
    watch(kubelet, ApiResource::CsiDrivers, 4, {1'000});
    ApiClient& proxy = client(ApiClientKind::KubeProxy, node);
    watch(proxy, ApiResource::Services, kServices, kServiceSize);
    watch(proxy, ApiResource::EndpointSlices, kSlices, kServiceSize);
    watch(proxy, ApiResource::Nodes, 1, {15'000});
    for (int32_t agent = 0; agent < 8; ++agent) {
      ApiClient& by = client(ApiClientKind::ServiceAccount, agent);
      ask(by, Verb::Get, ApiResource::Secrets, {5'000});
      watch(by, ApiResource::ConfigMaps, 1, {5'000});
    }
  }

  ApiWorld& world_;
  ApiClientsParams params_;
  Rng rng_{5};
  std::vector<std::unique_ptr<ApiClient>> clients_;
  Reflectors reflectors_{world_.engine, world_.servers, {}, Rng{6}};
};

}  // namespace orrery::test

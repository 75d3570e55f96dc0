// tests/support/node_join.hpp -- nodes that join through API servers, without a whole run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/control_plane/load/pod_events_params.hpp"
#include "models/control_plane/nodes/node_boots.hpp"
#include "models/control_plane/nodes/node_clients.hpp"
#include "sim/record/recorder.hpp"
#include "tests/support/api_world.hpp"

namespace orrery::test {

// Boots nodes evenly over `spread`. Nodes send the same requests as in a run. The cluster has
// `services` services with one slice each.
class NodeJoin final : public NodeApi {
 public:
  NodeJoin(ApiWorld& world, uint32_t nodes, Duration spread, int64_t services = 10'000)
      : world_{world},
        others_{world.engine, world.servers, params_, rng_, nodes},
        boots_{{world.engine, world.streams, recorder_}, params_of(services), *this, nodes} {
    for (uint32_t n = 0; n < nodes; ++n) {
      kubelets_.push_back(std::make_unique<ApiClient>(
          world.engine, world.servers, params_.kubelet,
          ApiClient::Setup{.kind = ApiClientKind::Kubelet, .user = n}, rng_));
      boots_.absent({n});
      world.engine.after(Duration{spread.ns * n / nodes}, Label{"test.node_joins"},
                         [this, n] { boots_.boot({n}); });
    }
  }

  void send(NodeId node, uint32_t client, const ApiRequest& request,
            std::function<void(bool)> done) override {
    ApiClient& by = client == kKubelet ? *kubelets_[node.index] : others_.of(node, client);
    by.send(request, [done = std::move(done)](const ApiAnswer& answer) {
      done(answer.outcome == ApiOutcome::Done);
    });
  }
  void delete_dead_pods(NodeId, bool) override {}
  const NodeBoots& boots() const { return boots_; }

 private:
  static BootParams params_of(int64_t services) {
    return {.join = {.services = services, .slices = services},
            .event_bytes = PodEventsParams{}.bytes};
  }

  ApiWorld& world_;
  PodClientsParams params_;
  Rng rng_{5};
  MemoryRecorder recorder_;
  NodeClients others_;
  std::vector<std::unique_ptr<ApiClient>> kubelets_;
  NodeBoots boots_;
};

}  // namespace orrery::test

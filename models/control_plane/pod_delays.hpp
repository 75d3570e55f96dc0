// models/control_plane/pod_delays.hpp -- control_plane.level: delays. Requests meet nobody else.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/kubelet.hpp"
#include "models/control_plane/node_api.hpp"
#include "models/workload/pod_api.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

class PodDelays final : public PodApi, public NodeApi {
 public:
  PodDelays(Engine& engine, const ControlPlaneParams& params)
      : engine_{engine},
        params_{params},
        write_{unloaded_write(params, params.pods.bytes) + params.pods.watch_latency},
        start_{orrery::start_time(1, params.kubelet)} {}

  void create(PodId /*pod*/, Done done) override { after_write(std::move(done)); }
  void bind(PodId /*pod*/, NodeId /*node*/, Done done) override { after_write(std::move(done)); }
  Duration start_time() const override { return start_; }
  void removed(PodId /*pod*/, NodeId /*node*/) override {}

  void send(NodeId /*node*/, uint32_t /*client*/, const ApiRequest& request,
            std::function<void(bool)> done) override {
    engine_.after(unloaded(params_, request), Label{"control.answered"},
                  [done = std::move(done)] { done(true); });
  }
  void delete_dead_pods(NodeId /*node*/, bool /*is_back*/, std::function<void()> done) override {
    engine_.after(write_, Label{"control.written"}, [done = std::move(done)] { done(); });
  }

 private:
  void after_write(Done done) {
    engine_.after(write_, Label{"control.written"}, [done = std::move(done)] { done(true); });
  }

  Engine& engine_;
  ControlPlaneParams params_;
  Duration write_, start_;
};

}  // namespace orrery

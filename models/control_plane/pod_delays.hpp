// models/control_plane/pod_delays.hpp -- control_plane.level: delays. Requests meet nobody else.
#pragma once

#include <utility>

#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/kubelet.hpp"
#include "models/workload/pod_api.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

class PodDelays final : public PodApi {
 public:
  PodDelays(Engine& engine, const ControlPlaneParams& params)
      : engine_{engine},
        write_{unloaded_write(params, params.pods.bytes) + params.pods.watch_latency},
        start_{orrery::start_time(1, params.kubelet)} {}

  void create(PodId /*pod*/, Done done) override { after_write(std::move(done)); }
  void bind(PodId /*pod*/, NodeId /*node*/, Done done) override { after_write(std::move(done)); }
  Duration start_time() const override { return start_; }
  void removed(PodId /*pod*/, NodeId /*node*/) override {}

 private:
  void after_write(Done done) {
    engine_.after(write_, Label{"control.written"}, [done = std::move(done)] { done(true); });
  }

  Engine& engine_;
  Duration write_, start_;
};

}  // namespace orrery

// models/control_plane/pod_delays.hpp -- control_plane.level: delays. Requests meet nobody else.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"
#include "models/control_plane/kubelet/pod_images.hpp"
#include "models/control_plane/nodes/node_api.hpp"
#include "models/workload/job/pod_api.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

class PodDelays final : public PodApi, public NodeApi {
 public:
  PodDelays(Engine& engine, const ControlPlaneParams& params, const JobTable& jobs, uint32_t nodes)
      : engine_{engine},
        params_{params},
        images_{jobs},
        held_(nodes),
        write_{unloaded_write(params, params.pods.bytes)},
        watch_{unloaded_news(params)},
        start_{orrery::start_time(1, params.kubelet)} {}

  void create(PodId pod, Told told) override;
  void bind(PodId pod, NodeId node, Done done) override;
  void start(PodId pod, NodeId node, Started started) override;
  void evict(PodId pod, Told told) override;
  void nominated(PodId /*pod*/) override {}
  void scheduling_failed(PodId /*pod*/) override {}
  void removed(PodId /*pod*/, NodeId /*node*/) override {}
  bool is_scheduler_synced() const override { return true; }

  void send(NodeId /*node*/, uint32_t /*client*/, const ApiRequest& request,
            std::function<void(bool)> done) override {
    engine_.after(unloaded(params_, request), Label{"control.answered"},
                  [done = std::move(done)] { done(true); });
  }
  void delete_dead_pods(NodeId /*node*/, bool /*is_back*/, std::function<void()> done) override {
    engine_.after(write_ + watch_, Label{"control.written"}, [done = std::move(done)] { done(); });
  }
  void node_down(NodeId node) { held_[node.index].clear(); }  // with its images

 private:
  struct Held {
    ImageId image;
    Time from;  // when its pull is over
  };
  Engine& engine_;
  ControlPlaneParams params_;
  ImageNames images_;
  std::vector<std::vector<Held>> held_;  // by node
  Duration write_, watch_, start_;
};

}  // namespace orrery

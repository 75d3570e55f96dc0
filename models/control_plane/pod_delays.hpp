// models/control_plane/pod_delays.hpp -- the control plane of `level: delays`, in which each
// request takes as long as it would without other load.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/control_plane/base/controller_api.hpp"
#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"
#include "models/control_plane/kubelet/pod_images.hpp"
#include "models/control_plane/nodes/dead_pods.hpp"
#include "models/control_plane/nodes/node_api.hpp"
#include "models/hardware/node_presence.hpp"
#include "models/workload/job/pod_api.hpp"
#include "models/workload/job/pod_news.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

class PodDelays final : public PodApi, public NodeApi, public ControllerApi {
 public:
  PodDelays(Engine& engine, const ControlPlaneParams& params, const JobTable& jobs,
            const NodePresence& presence, PodNews& pods)
      : engine_{engine},
        params_{params},
        jobs_{jobs},
        presence_{presence},
        pods_{pods},
        images_{jobs},
        held_(presence.nodes()),
        dead_pods_{presence.nodes()},
        write_{unloaded_write(params, params.pods.bytes)},
        watch_{unloaded_news(params)},
        start_{orrery::start_time(1, params.kubelet)} {}

  void connect(NodeNews& nodes);

  void create(PodId pod, PodApi::Reply reply) override;
  void bind(PodId pod, NodeId node, Done done) override;
  void start(PodId pod, NodeId node, Started started) override;
  void evict(PodId pod, PodApi::Reply reply) override;
  void nominated(PodId /*pod*/) override {}
  void scheduling_failed(PodId /*pod*/) override {}
  void removed(PodId pod, NodeId node, PodApi::Observed observed) override;

  void send(NodeId /*node*/, uint32_t /*client*/, const ApiRequest& request,
            std::function<void(bool)> done) override {
    engine_.after(unloaded(params_, request), Label{"control.answered"},
                  [done = std::move(done)] { done(true); });
  }
  void delete_dead_pods(NodeId node, bool is_back) override;

  void patch(uint32_t controller, ApiResource resource, ControllerApi::Reply reply) override;
  void delete_pod(uint32_t controller, PodId pod, MayEvict may,
                  ControllerApi::Reply reply) override;

 private:
  struct Held {
    ImageId image;
    Time from;  // when its pull ends
  };
  Engine& engine_;
  ControlPlaneParams params_;
  const JobTable& jobs_;
  const NodePresence& presence_;
  PodNews& pods_;
  ImageNames images_;
  std::vector<std::vector<Held>> held_;  // by node
  DeadPods dead_pods_;
  Duration write_, watch_, start_;
};

}  // namespace orrery

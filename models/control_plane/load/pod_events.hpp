// models/control_plane/load/pod_events.hpp -- Events about pods, and clients that list Events.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/list_readers.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/etcd/etcd_params.hpp"
#include "models/control_plane/etcd/etcd_store.hpp"
#include "models/control_plane/load/event_series.hpp"
#include "models/control_plane/load/pod_events_params.hpp"
#include "sim/core/id.hpp"
#include "sim/core/rng.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// No component waits for an Event to be stored. Each Event about a pod is written by a request of
// its own, but repeated scheduling failures of a pod form a series (EventSeries). Events that
// neither the scheduler nor a kubelet records are a steady load.
class PodEvents {
 public:
  struct Params {  // the references must outlive the PodEvents
    const PodEventsParams& events;
    const PodClientsParams& clients;
    const ApiServersParams& api_servers;
    const EtcdParams& etcd;
  };
  // `nodes` (true for nodes that are up) must outlive the object.
  PodEvents(Sim sim, ApiServers& servers, EtcdStore& store, const Params& params,
            const std::vector<bool>& nodes);
  PodEvents(const PodEvents&) = delete;
  PodEvents& operator=(const PodEvents&) = delete;

  void start();
  // Pass NodeId{} if no kubelet will start the pod.
  void pod_bound(NodeId node, uint32_t name_space);
  // `life` is Pod::generation.
  void scheduling_failed(PodId pod, uint64_t life, uint32_t name_space);

  int64_t kept() const;
  void add_summary(Recorder& recorder) const;

 private:
  void record(ApiClient& client, int32_t count, uint32_t name_space);

  EtcdSplit& etcd_;
  ApiServers& servers_;
  Params params_;
  const PodEventsParams& events_;
  Rng rng_;
  ApiClient scheduler_;
  EventSeries failures_;
  std::vector<std::unique_ptr<ApiClient>> kubelets_;  // by node
  std::vector<std::unique_ptr<ListReaders>> readers_;
  uint64_t written_ = 0, dropped_ = 0;
};

}  // namespace orrery

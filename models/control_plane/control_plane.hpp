// models/control_plane/control_plane.hpp -- the control plane of `control_plane.level: full`, with
// API servers, etcd, and the clients that act for pods.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/base/controller_api.hpp"
#include "models/control_plane/base/job_namespaces.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/reflectors.hpp"
#include "models/control_plane/clients/watch_news.hpp"
#include "models/control_plane/control_plane_log.hpp"
#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/control_plane_rows.hpp"
#include "models/control_plane/etcd/etcd_store.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"
#include "models/control_plane/kubelet/pod_images.hpp"
#include "models/control_plane/load/crash_loops.hpp"
#include "models/control_plane/load/namespace_churn.hpp"
#include "models/control_plane/load/pod_events.hpp"
#include "models/control_plane/load/thresholds.hpp"
#include "models/control_plane/nodes/dead_pods.hpp"
#include "models/control_plane/nodes/node_api.hpp"
#include "models/control_plane/nodes/node_clients.hpp"
#include "models/control_plane/nodes/node_objects.hpp"
#include "models/control_plane/pod_objects.hpp"
#include "models/control_plane/services/services.hpp"
#include "models/hardware/node_presence.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/pod_api.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Heartbeats are a steady load on servers and etcd, not single events. A kubelet watches the pods
// of its node, writes their status as they start, and deletes their objects once they have ended.
class ControlPlane final : public PodApi, public NodeApi, public ControllerApi {
 public:
  // All references must outlive the control plane. It emits the Signal `dead_pods_gone` of `pods`.
  ControlPlane(Sim sim, const ControlPlaneParams& params, const JobTable& jobs,
               const NodePresence& presence, PodNews& pods);
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  void connect(JobNews& jobs, NodeNews& nodes);
  void start();

  void create(PodId pod, PodApi::Reply reply) override;
  void bind(PodId pod, NodeId node, Done done) override;
  void start(PodId pod, NodeId node, Started started) override;
  void evict(PodId pod, PodApi::Reply reply) override;
  void nominated(PodId pod) override;
  void scheduling_failed(PodId pod) override;
  void removed(PodId pod, NodeId node, PodApi::Observed observed) override;

  void send(NodeId node, uint32_t client, const ApiRequest& request,
            std::function<void(bool)> done) override;
  void delete_dead_pods(NodeId node, bool is_back) override;

  void patch(uint32_t controller, ApiResource resource, ControllerApi::Reply reply) override;
  void delete_pod(uint32_t controller, PodId pod, MayEvict may,
                  ControllerApi::Reply reply) override;

  void sample(Time now);  // at the end of each interval of the timeline
  void add_summary(Recorder& recorder);
  std::vector<std::string> notes() const;  // problems of the run; sizes above their threshold()
  void audit() const { servers_.audit(); }

 private:
  void node_down(NodeId node, NodeReason why);  // no heartbeats until the node has booted
  void node_up(NodeId node);
  void node_registered(NodeId node);
  void node_deregistered(NodeId node);
  void job_arrived(JobId job);
  void job_over(JobId job);
  void add_clients();
  void leave_out_absent(const NodePresence& presence);
  void add_loads();
  void write(ApiClient& client, PodWrite what, PodApi::Reply reply, Duration waited);
  void written(PodWrite what, const PodApi::Reply& reply);
  void write_again(ApiClient& client, PodWrite what, const PodApi::Reply& reply, Duration waited);
  void patch_status(NodeId node, uint32_t space);
  void patch_as_it_starts(PodId pod, NodeId node, int32_t sent);
  void settle(uint32_t object);
  uint32_t name_space(PodId pod) const { return job_namespaces_.of(jobs_.pod(pod).job); }
  ApiClient& kubelet(NodeId node) { return *kubelets_[node.index]; }
  uint32_t scheduler_watch() const { return static_cast<uint32_t>(kubelets_.size()); }
  uint32_t controllers_watch() const { return scheduler_watch() + 1; }
  void watch_leases();
  void size_lists();
  void delete_pod(ApiClient& client, uint32_t object, uint32_t watcher, PodApi::Observed observed);
  ApiClient& client_of(uint32_t controller);
  void heartbeats();
  void sample_servers(Time now, double seconds);
  void sample_etcd(Time now, double seconds);
  Bytes watcher_memory() const;
  Bytes index_memory();

  Sim sim_;
  ControlPlaneParams params_;
  EtcdSplit etcd_;
  EtcdStore store_;
  ApiServers servers_;
  ControlPlaneLog log_;
  Rng client_rng_;
  const JobTable& jobs_;
  PodNews& pods_news_;
  JobNamespaces job_namespaces_;
  std::vector<std::unique_ptr<ApiClient>> controllers_;  // they create pods; by controller_of()
  ApiClient garbage_collector_, scheduler_;
  std::vector<std::unique_ptr<ApiClient>> kubelets_;        // by node
  std::vector<std::unique_ptr<ApiClient>> policy_clients_;  // by controller; created at first use
  NodeClients node_clients_;
  // One reflector for each kubelet, then one for the scheduler and one for each of pod_watchers_.
  Reflectors reflectors_;
  WatchNews news_;
  std::vector<std::unique_ptr<ApiClient>> pod_watchers_;  // the first stands for the controllers
  ApiRequest all_pods_, pods_of_node_;  // sizes of LISTs; the second is the mean over nodes
  PodObjects objects_;
  NodeObjects node_objects_;
  PodImages images_;
  std::unique_ptr<PodEvents> events_;
  std::unique_ptr<CrashLoops> crash_loops_;
  std::unique_ptr<NamespaceChurn> namespaces_;
  ClusterSize most_;         // greatest sizes so far
  int64_t pods_ = 0;         // bound pods
  std::vector<bool> is_up_;  // by node
  DeadPods dead_pods_;
  int64_t nodes_up_, nodes_registered_;
  Duration start_;
  Time sampled_to_;
  std::vector<double> cores_, egress_;  // seconds of work until the last sample, by server
  std::vector<uint64_t> gone_before_;   // 410 responses until the last sample, by server
  Etcd::Counters etcd_before_;
  Bytes watcher_memory_peak_ = {}, index_memory_peak_ = {};
  ApiStatistics::Cell total_;
  uint64_t retried_ = 0;
  Channel<ControlPlaneSample> samples_;
  Channel<ApiServerSample> server_samples_;
  Channel<EtcdSample> etcd_samples_;
  std::unique_ptr<Services> services_;  // null without services
};

}  // namespace orrery

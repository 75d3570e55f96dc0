#include "models/control_plane/control_plane.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/base/losses.hpp"
#include "sim/core/check.hpp"

namespace orrery {
ControlPlane::ControlPlane(Sim sim, const ControlPlaneParams& params, const JobTable& jobs,
                           const NodePresence& presence, PodNews& pods)
    : sim_{sim},
      params_{params},
      etcd_{sim.engine, params_.etcd},
      store_{etcd_},
      servers_{{.engine = sim.engine, .store = store_, .nodes = presence.nodes()},
               params_.api_servers,
               sim.rng.stream("control_plane.servers")},
      log_{sim, servers_, etcd_},
      client_rng_{sim.rng.stream("control_plane.clients")},
      jobs_{jobs},
      pods_news_{pods},
      job_namespaces_{jobs, params_.namespaces && params_.namespaces->per_job},
      garbage_collector_{sim.engine,
                         servers_,
                         params_.clients.controller_manager,
                         {.kind = ApiClientKind::ControllerManager},
                         client_rng_},
      scheduler_{sim.engine,
                 servers_,
                 params_.clients.scheduler,
                 {.kind = ApiClientKind::Scheduler},
                 client_rng_},
      node_clients_{sim.engine, servers_, params_.clients, client_rng_, presence.nodes()},
      reflectors_{sim.engine, servers_, {}, sim.rng.stream("control_plane.reflectors")},
      news_{sim.engine, servers_, reflectors_},
      objects_{store_},
      node_objects_{store_, presence.nodes()},
      images_{sim.engine, params_.image_pulls, jobs, presence.nodes()},
      is_up_(presence.nodes(), true),
      dead_pods_{presence.nodes()},
      nodes_up_{presence.nodes()},
      nodes_registered_{presence.nodes()},
      start_{orrery::start_time(1, params_.kubelet)},
      cores_(servers_.size()),
      egress_(servers_.size()),
      gone_before_(servers_.size()),
      samples_{sim.recorder, "/timeline/control_plane",
               "Requests to the API servers over time, by priority level and verb."},
      server_samples_{sim.recorder, "/timeline/api_servers", "API servers over time."},
      etcd_samples_{sim.recorder, "/timeline/etcd",
                    "etcd over time; with separate_events, sums over both etcds."} {
  add_clients();
  size_lists();
  store_.changed.connect([this](ApiResource resource) {
    servers_.watch_caches().changed(resource);
    if (resource == ApiResource::Pods) size_lists();
  });
  add_loads();
  most_[Quantity::Nodes] = presence.nodes();
  leave_out_absent(presence);
}

void ControlPlane::connect(JobNews& jobs, NodeNews& nodes) {
  jobs.job_arrived.connect(*this, &ControlPlane::job_arrived);
  jobs.job_over.connect(*this, &ControlPlane::job_over);
  nodes.node_down.connect(*this, &ControlPlane::node_down);
  nodes.node_up.connect(*this, &ControlPlane::node_up);
  nodes.node_registered.connect(*this, &ControlPlane::node_registered);
  nodes.node_deregistered.connect(*this, &ControlPlane::node_deregistered);
}

void ControlPlane::start() {
  for (uint32_t n = 0; n < kubelets_.size(); ++n) {
    if (is_up_[n]) reflectors_.start_synced(n);
  }
  servers_.set_nodes(nodes_registered_);
  watch_leases();
  for (uint32_t i = 0; i <= pod_watchers_.size(); ++i) {
    reflectors_.start_synced(scheduler_watch() + i);
  }
  heartbeats();
  if (events_) events_->start();
  if (crash_loops_) crash_loops_->start(is_up_);
  if (namespaces_) namespaces_->start();
  if (services_) services_->start(is_up_);
  plan_losses(sim_.engine, params_.losses, &ApiServerLossParams::server,
              Label{"control.server_lost"}, Label{"control.server_back"},
              [this](uint32_t number, bool is_up) {
                ApiServer& server = servers_.server(number);
                if (!is_up) return server.lose();
                if (!server.is_up()) server.recover();
              });
  plan_losses(
      sim_.engine, params_.etcd.losses, &EtcdMemberLossParams::member, Label{"etcd.member_lost"},
      Label{"etcd.member_back"},
      [this](uint32_t member, bool is_up) { etcd_.objects().set_member_up(member, is_up); });
  for (const DefragmentationParams& defragmentation : params_.etcd.defragmentations) {
    sim_.engine.at(
        Time{} + defragmentation.at, Label{"etcd.defragmentation"}, [this] { etcd_.defragment(); },
        Phase::Control);
  }
}

// Sets the steady load of heartbeats: each node that is up renews its Lease and writes its status
// at fixed intervals.
void ControlPlane::heartbeats() {
  const HeartbeatParams& beats = params_.kubelet.heartbeats;
  const HeartbeatLoad load = heartbeat_load(nodes_up_, beats);
  const double per_s = load.leases_per_s + load.statuses_per_s;
  const Duration cpu = params_.api_servers.server.cost.write;
  const FlowClass flow =
      classify(params_.api_servers.flow_control, ApiClientKind::Kubelet, ApiResource::Leases);
  servers_.set_steady(
      flow.level, {.requests_per_s = per_s, .cpu = cpu, .held = cpu + params_.etcd.commit_time()});
  etcd_.objects().set_steady_load(
      {.writes_per_s = per_s,
       .stored = {.update_bytes_per_s = load.bytes_per_s, .updates_per_s = per_s}});
}

void ControlPlane::node_down(NodeId node, NodeReason /*why*/) {
  is_up_[node.index] = false;
  --nodes_up_;
  reflectors_.stop(node.index);
  news_.end(node.index);
  images_.renew(node);
  heartbeats();
  if (crash_loops_) crash_loops_->node_down(node);
  if (services_) services_->node_down(node);
}

void ControlPlane::node_up(NodeId node) {
  is_up_[node.index] = true;
  ++nodes_up_;
  reflectors_.start_synced(node.index);  // the boot included the kubelet's LIST of pods
  heartbeats();
  if (crash_loops_) crash_loops_->node_up(node);
  if (services_) services_->node_up(node);
}

}  // namespace orrery

#include "models/control_plane/control_plane.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/base/losses.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Controllers that fail come back to it later; estimates, as their queues' back-off depends on
// more.
constexpr Duration kRetryFirst = 1_s, kRetryMax = 60_s;

}  // namespace

ControlPlane::ControlPlane(Sim sim, const ControlPlaneParams& params, const JobTable& jobs,
                           const NodePresence& presence, PodNews& pods)
    : sim_{sim},
      params_{params},
      etcd_{sim.engine, params_.etcd},
      store_{etcd_},
      servers_{{.engine = sim.engine, .store = store_, .nodes = presence.nodes()},
               params_.api_servers,
               sim.rng.stream("control_plane.servers")},
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
      etcd_samples_{sim.recorder, "/timeline/etcd", "etcd over time."} {
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
  const auto kubelets = static_cast<uint32_t>(kubelets_.size());
  for (uint32_t i = 0; i < pod_watchers_.size(); ++i) reflectors_.start_synced(kubelets + i);
  heartbeats();
  if (events_) events_->start();
  if (crash_loops_) crash_loops_->start(is_up_);
  if (namespaces_) namespaces_->start();
  if (services_) services_->start(is_up_);
  plan_losses(sim_.engine, params_.losses, &ApiServerLossParams::server,
              Label{"control.server_lost"}, Label{"control.server_back"},
              [this](uint32_t number, bool is_up) {
                ApiServer& server = servers_.server(number);
                if (server.is_up() == is_up) return;  // it ran out of memory, or is back from that
                is_up ? server.recover() : server.lose();
              });
  plan_losses(
      sim_.engine, params_.etcd.losses, &EtcdMemberLossParams::member, Label{"etcd.member_lost"},
      Label{"etcd.member_back"},
      [this](uint32_t member, bool is_up) { etcd_.objects().set_member_up(member, is_up); });
}

// A Lease is renewed every so often, a status written every so often, by each node that is up.
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
  images_.renew(node);
  heartbeats();
  if (crash_loops_) crash_loops_->node_down(node);
  if (services_) services_->node_down(node);
}

void ControlPlane::node_up(NodeId node) {
  is_up_[node.index] = true;
  ++nodes_up_;
  reflectors_.start_synced(node.index);  // it listed its pods as it booted
  heartbeats();
  if (crash_loops_) crash_loops_->node_up(node);
  if (services_) services_->node_up(node);
}

// ---- pods

void ControlPlane::create(PodId pod, Told told) {
  const WorkloadKind kind = jobs_.job(jobs_.pod(pod).job).spec.controller;
  const uint32_t space = name_space(pod);
  const uint32_t object = objects_.create(pod, space);
  const auto heard = [this, object, told = std::move(told)](Creation news) {
    const bool is_over = news != Creation::Answered && objects_.settle(object);
    if (is_over) delete_pod(garbage_collector_, object, {});
    told(news);
  };
  write(*controllers_[controller_of(kind)], {Verb::Create, space, object}, heard, {});
}

// A node that died meanwhile, or whose pod is gone, has nothing to tell.
void ControlPlane::bind(PodId pod, NodeId node, Done done) {
  const uint64_t life = jobs_.pod(pod).generation;
  const uint32_t space = name_space(pod);
  const auto bound = [this, pod, life, space, node, done = std::move(done)](Creation news) {
    if (news == Creation::Answered) return;
    const bool is_done = news == Creation::Known;
    const Pod& now_is = jobs_.pod(pod);
    const bool is_there = now_is.generation == life && now_is.state == PodState::Pending;
    const bool starts = is_done && is_there && is_up_[node.index];
    for (int32_t i = 0; i < params_.kubelet.status_writes && starts; ++i) {
      write(kubelet(node), {Verb::Patch, space}, {}, {});
    }
    if (events_ && is_done) events_->pod_bound(starts ? node : NodeId{}, space);
    done(is_done);
  };
  write(scheduler_, {Verb::Update, space}, bound, {});  // the binding is stored in the pod
}

void ControlPlane::start(PodId pod, NodeId node, Started started) {
  most_[Quantity::Pods] = std::max(most_[Quantity::Pods], ++pods_);
  images_.ensure(pod, node, [this, pod, started = std::move(started)] {
    started(start_);
    // One that is gone may be bound anew already, and pull its images.
    const bool is_known = jobs_.pod(pod).started < Time::max();
    if (services_ && is_known) services_->pod_starts(pod);
  });
}

// Its condition says why, then it is told to end; its kubelet deletes it once it has.
void ControlPlane::evict(PodId pod, Told told) {
  const uint32_t space = name_space(pod);
  const auto said_why = [this, space, told = std::move(told)](Creation news) {
    if (news == Creation::Answered) write(scheduler_, {Verb::Update, space}, told, {});
  };
  write(scheduler_, {Verb::Patch, space}, said_why, {});
}

void ControlPlane::nominated(PodId pod) {
  write(scheduler_, {Verb::Patch, name_space(pod)}, {}, {});
}

void ControlPlane::scheduling_failed(PodId pod) {
  if (events_) events_->scheduling_failed(pod, jobs_.pod(pod).generation, name_space(pod));
}

// Nobody hears of pods whose node just died.
void ControlPlane::removed(PodId pod, NodeId node) {
  const uint32_t object = objects_.remove(pod);
  if (!node.is_valid()) return delete_pod(garbage_collector_, object, {});
  --pods_;
  if (services_) services_->pod_gone(pod);
  if (is_up_[node.index]) return delete_pod(kubelet(node), object, {});
  dead_pods_.died(node, {pod, jobs_.pod(pod).generation}, object);
}

void ControlPlane::job_arrived(JobId job) {
  job_namespaces_.job_arrived(job);
  if (!namespaces_) return;
  namespaces_->job_arrived(job);
  if (!params_.namespaces->per_job) return;
  int64_t& pods = most_[Quantity::PodsOfNamespace];
  pods = std::max<int64_t>(pods, jobs_.job(job).pods);
}

void ControlPlane::job_over(JobId job) {
  if (services_) services_->job_over(job);
  if (namespaces_) namespaces_->job_over(job);
}

// Of a pod. What somebody waits for is tried again, with pauses that double, for a minute at most.
void ControlPlane::write(ApiClient& client, PodWrite what, Told told, Duration waited) {
  const ApiRequest request{.verb = what.verb,
                           .resource = ApiResource::Pods,
                           .name_space = what.name_space,
                           .bytes = params_.pods.bytes,
                           .object = what.object,
                           .answer = params_.pods.bytes};
  client.send(request,
              [this, &client, what, told = std::move(told), waited](const ApiAnswer& answer) {
                written(client, what, told, answer.outcome == ApiOutcome::Done, waited);
              });
}

void ControlPlane::written(ApiClient& client, PodWrite what, const Told& told, bool is_done,
                           Duration waited) {
  if (is_done) {
    const ApiCostParams& cost = params_.api_servers.server.cost;
    const Duration copy =
        nearest_ns(static_cast<double>(params_.pods.bytes.count) * cost.sent_byte * 1e-9);
    servers_.tell_watchers(ApiResource::Pods, copy, {}, params_.pods.bytes);
  }
  if (!told) return;
  if (waited == Duration{}) told(Creation::Answered);
  if (is_done) {
    if (params_.pods.watch_latency == Duration{}) return told(Creation::Known);
    sim_.engine.after(params_.pods.watch_latency, Label{"control.watcher_told"},
                      [told] { told(Creation::Known); });
    return;
  }
  const Duration pause = waited == Duration{} ? kRetryFirst : waited;  // as long again as it waited
  if (waited + pause > kRetryMax) {
    ORRERY_MARK("control.gave_up");
    return told(Creation::Refused);
  }
  ++retried_;
  struct Again {
    ApiClient& client;
    PodWrite what;
    Told told;
    Duration waited;
  };
  auto again = std::make_unique<Again>(Again{client, what, told, waited + pause});
  sim_.engine.after(pause, Label{"control.tries_again"}, [this, again = std::move(again)] {
    write(again->client, again->what, std::move(again->told), again->waited);
  });
}

}  // namespace orrery

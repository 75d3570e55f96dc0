// models/control_plane/control_plane_pods.cpp -- writes Pod objects through the API.
#include <algorithm>
#include <memory>
#include <utility>

#include "models/control_plane/control_plane.hpp"

namespace orrery {
namespace {

// A failed write is retried up to six times, after pauses of 1 s, 1 s, 2 s, 4 s, 8 s and 16 s. Each
// pause after the first doubles the total wait. Then the write is given up, because a total wait of
// 64 s would exceed kRetryMax. Both constants are estimates of the backoff of controllers' queues.
constexpr Duration kRetryFirst = 1_s, kRetryMax = 60_s;

}  // namespace

void ControlPlane::create(PodId pod, PodApi::Reply reply) {
  const uint32_t space = name_space(pod);
  const uint32_t object = objects_.create(pod, space);
  const auto created = [this, object, reply = std::move(reply)](Creation news) {
    if (news == Creation::Refused) settle(object);
    reply(news);
  };
  write(*controllers_[controller_of(jobs_.controller(pod))],
        {.verb = Verb::Create, .name_space = space, .object = object, .watcher = scheduler_watch()},
        created, {});
}

// Called when the creation of a pod is stored or given up. Deletes the object if the pod is gone by
// then.
void ControlPlane::settle(uint32_t object) {
  if (objects_.settle(object)) delete_pod(garbage_collector_, object, kNobody, {});
}

// The kubelet starts the pod only if `done` puts the pod on the node. `done` does nothing if the
// scheduler's reservation has ended, because the pod was deleted or the node died.
void ControlPlane::bind(PodId pod, NodeId node, Done done) {
  const uint64_t life = jobs_.pod(pod).generation;
  const uint32_t space = name_space(pod);
  const auto bound = [this, pod, life, space, node, done = std::move(done)](Creation news) {
    if (news == Creation::Answered) return;
    const bool is_done = news == Creation::Known;
    const auto is_on_node = [&] {
      return jobs_.pod(pod).generation == life && jobs_.pod(pod).node == node;
    };
    const bool was_there = is_on_node();
    done(is_done);
    const bool starts = !was_there && is_on_node();
    if (starts && params_.kubelet.status_writes > 0) patch_status(node, space);
    if (events_ && is_done) events_->pod_bound(starts ? node : NodeId{}, space);
  };
  write(scheduler_, {.verb = Verb::Update, .name_space = space, .watcher = node.index}, bound, {});
}

void ControlPlane::start(PodId pod, NodeId node, Started started) {
  most_[Quantity::Pods] = std::max(most_[Quantity::Pods], ++pods_);
  const uint64_t life = jobs_.pod(pod).generation;
  images_.ensure(pod, node, [this, pod, node, life, started = std::move(started)] {
    started(start_);
    // The pod may have left the node and been created again. While the new pod pulls its images,
    // its start is not known.
    const bool is_known = jobs_.pod(pod).started < Time::max();
    if (is_known && jobs_.pod(pod).generation == life) patch_as_it_starts(pod, node, 1);
    if (services_ && is_known) services_->pod_starts(pod);
  });
}

// Sends all status patches but the first, spread evenly over the time until the containers run. The
// kubelet sent the first patch when it observed the pod. Example: the containers run 0.8 s after
// the images are pulled. Of 5 patches, four go out 0.2, 0.4, 0.6 and 0.8 s after the images are
// pulled.
void ControlPlane::patch_as_it_starts(PodId pod, NodeId node, int32_t sent) {
  const int32_t left = params_.kubelet.status_writes - sent;
  if (left <= 0) return;
  const uint64_t life = jobs_.pod(pod).generation;
  const Duration pause{(jobs_.pod(pod).started - sim_.engine.now()).ns / left};
  sim_.engine.after(pause, Label{"control.pod_status"}, [this, pod, node, life, sent] {
    const Pod& now_is = jobs_.pod(pod);
    if (now_is.generation != life || now_is.node != node || !is_up_[node.index]) return;
    patch_status(node, name_space(pod));
    patch_as_it_starts(pod, node, sent + 1);
  });
}

void ControlPlane::patch_status(NodeId node, uint32_t space) {
  write(kubelet(node), {.verb = Verb::Patch, .name_space = space}, {}, {});
}

// Adds the cause of the eviction to the pod's conditions, then deletes the pod gracefully. The
// pod's kubelet deletes the object once the containers have ended.
void ControlPlane::evict(PodId pod, PodApi::Reply reply) {
  const uint32_t space = name_space(pod);
  const NodeId node = jobs_.pod(pod).node;
  const uint32_t watcher = node.is_valid() ? node.index : scheduler_watch();
  const auto said_why = [this, space, watcher, reply = std::move(reply)](Creation news) {
    if (news != Creation::Answered) return;
    write(scheduler_, {.verb = Verb::Update, .name_space = space, .watcher = watcher}, reply, {});
  };
  write(scheduler_, {.verb = Verb::Patch, .name_space = space}, said_why, {});
}

void ControlPlane::nominated(PodId pod) {
  write(scheduler_, {.verb = Verb::Patch, .name_space = name_space(pod)}, {}, {});
}

void ControlPlane::scheduling_failed(PodId pod) {
  if (events_) events_->scheduling_failed(pod, jobs_.pod(pod).generation, name_space(pod));
}

// Kubelets report the end of a pod by a status update and a deletion. Here the deletion stands for
// both. A node that just died reports nothing.
void ControlPlane::removed(PodId pod, NodeId node, PodApi::Observed observed) {
  const uint32_t object = objects_.remove(pod);
  if (!node.is_valid()) return delete_pod(garbage_collector_, object, kNobody, {});
  --pods_;
  if (services_) services_->pod_gone(pod);
  if (is_up_[node.index]) {
    return delete_pod(kubelet(node), object, scheduler_watch(), std::move(observed));
  }
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

// The deletion is retried until it is stored. `observed` is called when the watcher has observed
// the deletion. An `object` of 0 means that the pod has no stored object: then `observed` is called
// at once.
void ControlPlane::delete_pod(ApiClient& client, uint32_t object, uint32_t watcher,
                              PodApi::Observed observed) {
  if (object == 0) {
    if (observed) observed();
    return;
  }
  const auto deleted = [this, &client, object, watcher,
                        observed = std::move(observed)](Creation news) {
    if (news == Creation::Refused) delete_pod(client, object, watcher, observed);
    if (news == Creation::Known && observed) observed();
  };
  write(client,
        {.verb = Verb::Delete,
         .name_space = objects_.name_space(object),
         .object = object,
         .watcher = watcher},
        deleted, {});
}

// Writes a pod. A failed write is retried if it has a `reply`; `waited` is the total wait so far.
void ControlPlane::write(ApiClient& client, PodWrite what, PodApi::Reply reply, Duration waited) {
  const ApiRequest request{.verb = what.verb,
                           .resource = ApiResource::Pods,
                           .name_space = what.name_space,
                           .bytes = params_.pods.bytes,
                           .object = what.object,
                           .answer = params_.pods.bytes};
  client.send(request,
              [this, &client, what, reply = std::move(reply), waited](const ApiAnswer& answer) {
                const bool is_done = answer.outcome == ApiOutcome::Done;
                if (reply && waited == Duration{}) reply(Creation::Answered);
                if (is_done) return written(what, reply);
                if (reply) write_again(client, what, reply, waited);
              });
}

// Called once the write is stored. Sends the event to all clients that watch all pods. If the
// write's `watcher` is a kubelet, sends the event to this kubelet, too. `reply` gets Known once
// `watcher` has the event, or at once if the write has no `watcher` or the kubelet is dead.
void ControlPlane::written(PodWrite what, const PodApi::Reply& reply) {
  if (what.verb == Verb::Create) settle(what.object);
  if (what.verb == Verb::Delete) objects_.deleted(what.object);
  const double copy = static_cast<double>(params_.pods.bytes.count) *
                      params_.api_servers.server.cost.sent_byte * 1e-9;
  const WatchNews::Event event{.cpu = nearest_ns(copy), .bytes = params_.pods.bytes};
  const auto known = [reply] { reply(Creation::Known); };
  if (what.watcher >= kubelets_.size() && what.watcher != kNobody) {
    return news_.changed(event, what.watcher, known);
  }
  news_.changed(event);
  const bool is_sent = what.watcher != kNobody && is_up_[what.watcher];
  if (is_sent) return news_.tell(event, what.watcher, known);
  if (reply) known();
}

void ControlPlane::write_again(ApiClient& client, PodWrite what, const PodApi::Reply& reply,
                               Duration waited) {
  const Duration pause = waited == Duration{} ? kRetryFirst : waited;  // doubles the total wait
  if (waited + pause > kRetryMax) {
    ORRERY_MARK("control.gave_up");
    return reply(Creation::Refused);
  }
  ++retried_;
  struct Again {
    ApiClient& client;
    PodWrite what;
    PodApi::Reply reply;
    Duration waited;
  };
  auto again = std::make_unique<Again>(Again{client, what, reply, waited + pause});
  sim_.engine.after(pause, Label{"control.tries_again"}, [this, again = std::move(again)] {
    write(again->client, again->what, std::move(again->reply), again->waited);
  });
}

}  // namespace orrery

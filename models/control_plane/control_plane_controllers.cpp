// models/control_plane/control_plane_controllers.cpp -- API requests of policy.controllers.
#include <memory>
#include <utility>

#include "models/control_plane/control_plane.hpp"

namespace orrery {
namespace {

// User numbers of policies' clients begin here: above those of daemons, and below those of
// ApiServers::new_account().
constexpr uint32_t kPolicyUsers = 1U << 20U;

}  // namespace

ApiClient& ControlPlane::client_of(uint32_t controller) {
  while (policy_clients_.size() <= controller) {
    const auto user = static_cast<uint32_t>(policy_clients_.size());
    policy_clients_.push_back(std::make_unique<ApiClient>(
        sim_.engine, servers_, params_.clients.others,
        ApiClient::Setup{.kind = ApiClientKind::ServiceAccount, .user = kPolicyUsers + user},
        client_rng_));
  }
  return *policy_clients_[controller];
}

void ControlPlane::patch(uint32_t controller, ApiResource resource, ControllerApi::Reply reply) {
  const Bytes bytes =
      resource == ApiResource::Nodes ? params_.kubelet.heartbeats.status_bytes : params_.pods.bytes;
  client_of(controller)
      .send({.verb = Verb::Patch, .resource = resource, .bytes = bytes, .answer = bytes},
            [reply = std::move(reply)](const ApiAnswer& answer) {
              reply(answer.outcome == ApiOutcome::Done ? Answer::Stored : Answer::Failed);
            });
}

// The request only sets the Pod's deletionTimestamp, so `change` is an update. removed() deletes
// the Pod object later.
void ControlPlane::delete_pod(uint32_t controller, PodId pod, MayEvict may,
                              ControllerApi::Reply reply) {
  const NodeId node = jobs_.pod(pod).node;
  const PodWrite change{.verb = Verb::Update,
                        .name_space = name_space(pod),
                        .watcher = node.is_valid() ? node.index : scheduler_watch()};
  const auto observed = [reply](Creation) { reply(Answer::Observed); };
  const ApiRequest request{.verb = may ? Verb::Create : Verb::Delete,
                           .resource = ApiResource::Pods,
                           .name_space = change.name_space,
                           .bytes = params_.pods.bytes,
                           .answer = params_.pods.bytes};
  client_of(controller)
      .send(request, [this, change, observed, may = std::move(may),
                      reply = std::move(reply)](const ApiAnswer& answer) {
        if (answer.outcome != ApiOutcome::Done) return reply(Answer::Failed);
        if (may && !may()) return reply(Answer::Forbidden);
        reply(Answer::Stored);
        written(change, observed);
      });
}

}  // namespace orrery

#include "models/control_plane/nodes/boot_script.hpp"

#include <algorithm>
#include <span>

#include "models/control_plane/nodes/node_api.hpp"

namespace orrery {
namespace {

class Writer {
 public:
  Writer(const BootParams& params, bool joins)
      : p_{params.join},
        heartbeats_{params.heartbeats},
        event_bytes_{params.event_bytes},
        has_services_{params.has_services},
        joins_{joins} {}

  BootScript script() {
    if (joins_ && p_.certificate_requests > 0) {
      BootThread& thread = add(BootStage::Certificate, kKubelet);
      ask(thread, p_.certificate_requests - 1, Verb::Create, ApiResource::CertificateRequests);
      ask(thread, 1, Verb::Get, ApiResource::CertificateRequests);
    }
    const Verb store = joins_ ? Verb::Create : Verb::Update;
    BootThread& registration = add(BootStage::Registration, kKubelet);
    registration.is_registration = true;
    ask(registration, 1, store, ApiResource::Nodes);
    ask(registration, p_.registrations - 1, store, ApiResource::CsiNodes);
    ask(registration, std::min(p_.lease_requests, 1), Verb::Get, ApiResource::Leases);
    ask(registration, p_.lease_requests - 1, store, ApiResource::Leases);
    lists(BootStage::Registration, kKubelet, p_.kubelet_lists, kOfKubelet);
    ask(add(BootStage::Report, kKubelet), p_.status_patches, Verb::Patch, ApiResource::Nodes);
    lists(BootStage::Agents, kKubeProxy, p_.proxy_lists, kOfProxy);
    for (int32_t d = 0; d < p_.daemons; ++d) {
      const auto client = kFirstDaemon + static_cast<uint32_t>(d);
      lists(BootStage::Agents, client, p_.lists_per_daemon, {});
    }
    for (int32_t e = 0; e < p_.events; ++e) {
      ask(add(BootStage::Agents, kKubelet), 1, Verb::Create, ApiResource::Events);
    }
    return script_;
  }

 private:
  static constexpr ApiResource kOfKubelet[] = {ApiResource::Services, ApiResource::Nodes,
                                               ApiResource::Pods, ApiResource::RuntimeClasses,
                                               ApiResource::CsiDrivers};
  static constexpr ApiResource kOfProxy[] = {ApiResource::Services, ApiResource::EndpointSlices,
                                             ApiResource::Nodes};

  BootThread& add(BootStage stage, uint32_t client) {
    std::vector<BootThread>& threads = script_[static_cast<size_t>(stage)];
    threads.push_back({.client = client});
    return threads.back();
  }

  Bytes size_of(ApiResource resource) const {
    if (resource == ApiResource::Nodes) return heartbeats_.status_bytes;
    if (resource == ApiResource::Leases) return heartbeats_.lease_bytes;
    if (resource == ApiResource::Events) return event_bytes_;
    return p_.object_bytes;
  }

  void ask(BootThread& thread, int32_t count, Verb verb, ApiResource resource) const {
    const Bytes size = size_of(resource);
    for (int32_t i = 0; i < count; ++i) {
      thread.requests.push_back(
          {.verb = verb, .resource = resource, .bytes = size, .answer = size});
    }
  }

  // Adds `count` LIST requests, each followed by a WATCH. The i-th LIST reads the i-th of
  // `resources`, or one ConfigMap if `resources` is shorter. With `has_services_`, the LIST and
  // WATCH of EndpointSlices are left out.
  void lists(BootStage stage, uint32_t client, int32_t count,
             std::span<const ApiResource> resources) {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const ApiResource resource = i < resources.size() ? resources[i] : ApiResource::ConfigMaps;
      if (has_services_ && resource == ApiResource::EndpointSlices) continue;
      int64_t objects = 1;
      Bytes size = size_of(resource);
      if (resource == ApiResource::Services) {
        objects = p_.services, size = p_.service_bytes;
      } else if (resource == ApiResource::EndpointSlices) {
        objects = p_.slices, size = p_.slice_bytes;
      }
      size = size * objects;
      BootThread& thread = add(stage, client);
      thread.requests.push_back({.verb = Verb::List,
                                 .resource = resource,
                                 .objects = static_cast<int32_t>(objects),
                                 .bytes = size,
                                 .answer = size});
      thread.requests.push_back({.verb = Verb::Watch, .resource = resource});
    }
  }

  const NodeJoinParams& p_;
  const HeartbeatParams& heartbeats_;
  Bytes event_bytes_;
  bool has_services_, joins_;
  BootScript script_;
};

}  // namespace

BootScript join_script(const BootParams& params) { return Writer{params, true}.script(); }

BootScript reboot_script(const BootParams& params) { return Writer{params, false}.script(); }

}  // namespace orrery

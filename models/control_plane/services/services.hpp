// models/control_plane/services/services.hpp -- the services of a run: their members (pods and
// nodes), and the API traffic when the members change.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control_plane/base/job_namespaces.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/etcd/etcd_store.hpp"
#include "models/control_plane/services/endpoints_controller.hpp"
#include "models/control_plane/services/service_watchers.hpp"
#include "models/control_plane/services/services_params.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct WatchSample {
  Time time;
  FixedText<32> service = {};
  double writes = 0, events = 0, bytes = 0, cores = 0, by_agents = 0;
  int64_t addresses = 0, objects = 0;

  static void columns(auto&& c) {
    c("time", &WatchSample::time, "end of the interval; rates are means over it");
    c("service", &WatchSample::service, "name of the group in control_plane.services.groups");
    c("writes", &WatchSample::writes,
      "writes of EndpointSlices or Endpoints whose addresses changed", "1/s");
    c("events", &WatchSample::events, "watch events that API servers sent for writes of addresses",
      "1/s");
    c("bytes", &WatchSample::bytes,
      "size of the watch events, counted when API servers produce them, not when they arrive",
      "B/s");
    c("cores", &WatchSample::cores,
      "cores of API servers that are busy encoding and sending the watch events", "cores");
    c("by_agents", &WatchSample::by_agents,
      "data that agents forwarded to daemons (control_plane.services.watchers)", "B/s");
    c("addresses", &WatchSample::addresses,
      "addresses in the EndpointSlices or Endpoints that are stored now", "addresses");
    c("objects", &WatchSample::objects, "EndpointSlices or Endpoints that are stored now",
      "objects");
  }
};

// Pods join and leave services. Services with `members: nodes` have a pod on each node that is up.
// The endpoints controller writes each change through the API servers. Watchers receive a change
// once it is stored.
class Services {
 public:
  struct Context {
    Sim sim;
    ApiServers& servers;
    EtcdStore& store;
    NodeClients& node_clients;
    const JobTable& jobs;
    JobNamespaces& namespaces;
    uint32_t nodes = 0;
  };
  Services(const Context& context, const ServicesParams& params, const PodClientsParams& clients);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  void start(const std::vector<bool>& is_up);  // by node
  void node_up(NodeId node);
  void node_down(NodeId node);
  // Call as soon as Pod::started is known. The pod becomes ready at Pod::started.
  void pod_starts(PodId pod);
  void pod_gone(PodId pod);
  void job_over(JobId job);

  void sample(Time now, double seconds);  // for the interval of `seconds` that ends now
  void add_summary(Recorder& recorder) const;
  // One note for each group of services that had no members because its team ran no pod.
  std::vector<std::string> notes() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Traffic {
    uint64_t writes = 0;
    FanOutCost by_servers, by_agents;
  };
  // The services of a group or, with ServiceMembers::Jobs, those of one job of the group. All these
  // services have the same pods. Each new pod gets the set's next address.
  struct Set {
    std::vector<ServiceId> services;
    uint32_t next_address = 0;
  };
  struct Member {
    uint32_t set = kNone, address = 0;
  };
  struct Group {
    ServiceGroupParams params;
    bool is_headless = false;
    uint32_t set = kNone;                // kNone: each job has its own set
    std::vector<uint32_t> sets_of_jobs;  // index in sets_, by job
    std::vector<Member> members;         // by pod
    int64_t addresses = 0, objects = 0;  // stored now
    Traffic sent, sampled;               // traffic until now, and until the last sample
  };
  uint32_t new_set(uint32_t group, uint32_t name_space);
  uint32_t set_of(Group& group, uint32_t index, JobId job);
  void pod_ready(PodId pod);
  bool has_members(const Group& group, JobId job) const;
  uint32_t& name_of(ServiceId service, const ObjectWrite& write);
  void write(ServiceId service, const ObjectWrite& write, EndpointsController::Done done);
  void stored(ServiceId service, const ObjectWrite& write);
  void count(Group& group, const ObjectWrite& write);

  Engine& engine_;
  const JobTable& jobs_;
  const JobNamespaces& namespaces_;
  EtcdStore& store_;
  ApiClientParams client_params_;
  Rng rng_;
  ApiClient client_;
  ServiceWatchers watchers_;
  EndpointsController controller_;
  bool has_pods_ = false;  // a group of services selects pods
  std::vector<Group> groups_;
  std::vector<Set> sets_;
  std::vector<uint32_t> free_sets_;
  IdVector<ServiceId, uint32_t> group_of_, name_spaces_;
  // The names in store_ of each service's objects, by ObjectWrite::object; 0: no name.
  IdVector<ServiceId, std::vector<uint32_t>> names_;
  double peak_ = 0;  // highest rate in an interval of the timeline, in bytes a second
  Channel<WatchSample> samples_;
};

}  // namespace orrery

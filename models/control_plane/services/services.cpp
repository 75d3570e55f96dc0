#include "models/control_plane/services/services.hpp"

#include <algorithm>
#include <utility>

#include "sim/config/diagnostics.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using Change = ObjectWrite::Change;

Verb verb_of(Change change) {
  switch (change) {
    case Change::Create:
      return Verb::Create;
    case Change::Delete:
      return Verb::Delete;
    default:
      return Verb::Update;
  }
}

}  // namespace

Services::Services(const Context& context, const ServicesParams& params,
                   const PodClientsParams& clients)
    : engine_{context.sim.engine},
      jobs_{context.jobs},
      namespaces_{context.namespaces},
      store_{context.store},
      client_params_{clients.controller_manager},
      rng_{context.sim.rng.stream("control_plane.services.controller")},
      client_{engine_,
              context.servers,
              client_params_,
              {.kind = ApiClientKind::EndpointController},
              rng_},
      watchers_{{.sim = context.sim,
                 .servers = context.servers,
                 .node_clients = context.node_clients,
                 .nodes = context.nodes},
                params,
                clients.others},
      controller_{
          engine_, params.endpoints,
          [this](ServiceId service, const ObjectWrite& object, EndpointsController::Done done) {
            write(service, object, std::move(done));
          }},
      samples_{context.sim.recorder, "/timeline/watch",
               "Watch traffic of Endpoints or EndpointSlices over time, by group of services."} {
  for (const ServiceGroupParams& group : params.groups) {
    has_pods_ |= group.members != ServiceMembers::Nodes;
    const auto index = static_cast<uint32_t>(groups_.size());
    groups_.emplace_back().params = group;
    groups_.back().is_headless = group.is_headless();
    if (group.members == ServiceMembers::Jobs) continue;
    const bool is_of_nodes = group.members == ServiceMembers::Nodes;
    groups_.back().set = new_set(
        index, is_of_nodes ? JobNamespaces::kKubeSystem : context.namespaces.of_team(group.team));
  }
}

uint32_t Services::new_set(uint32_t group, uint32_t name_space) {
  if (free_sets_.empty()) {
    free_sets_.push_back(static_cast<uint32_t>(sets_.size()));
    sets_.emplace_back();
  }
  const uint32_t index = free_sets_.back();
  free_sets_.pop_back();
  Set& set = sets_[index];
  set.next_address = 0;
  for (int32_t i = 0; i < groups_[group].params.count; ++i) {
    const ServiceId service = controller_.add_service();
    set.services.push_back(service);
    if (service.index >= group_of_.size()) {
      group_of_.resize(service.index + size_t{1});
      name_spaces_.resize(service.index + size_t{1});
      names_.resize(service.index + size_t{1});
    }
    group_of_[service] = group;
    name_spaces_[service] = name_space;
  }
  return index;
}

void Services::start(const std::vector<bool>& is_up) {
  watchers_.start(is_up);
  std::vector<uint32_t> nodes;
  for (uint32_t n = 0; n < is_up.size(); ++n) {
    if (is_up[n]) nodes.push_back(n);
  }
  for (Group& group : groups_) {
    if (group.params.members != ServiceMembers::Nodes) continue;
    for (const ServiceId service : sets_[group.set].services) {
      for (const ObjectWrite& write : controller_.preload(service, nodes)) {
        store_.preload(name_of(service, write), write.bytes);
        count(group, write);
      }
    }
  }
}

// ---- membership

void Services::node_up(NodeId node) {
  watchers_.node_up(node);
  for (const Group& group : groups_) {
    if (group.params.members != ServiceMembers::Nodes) continue;
    for (const ServiceId id : sets_[group.set].services) controller_.pod_ready(id, node.index);
  }
}

void Services::node_down(NodeId node) {
  watchers_.node_down(node);
  for (const Group& group : groups_) {
    if (group.params.members != ServiceMembers::Nodes) continue;
    for (const ServiceId id : sets_[group.set].services) controller_.pod_gone(id, node.index);
  }
}

void Services::pod_starts(PodId id) {
  if (!has_pods_) return;
  const Pod& pod = jobs_.pod(id);
  if (pod.state != PodState::Bound && pod.state != PodState::Running) return;  // gone meanwhile
  engine_.at(std::max(pod.started, engine_.now()), Label{"services.pod_ready"},
             [this, id] { pod_ready(id); });
}

bool Services::has_members(const Group& group, JobId job) const {
  return group.params.members != ServiceMembers::Nodes &&
         (group.params.team.empty() || jobs_.job(job).spec.team == group.params.team);
}

uint32_t Services::set_of(Group& group, uint32_t index, JobId job) {
  if (group.params.members != ServiceMembers::Jobs) return group.set;
  if (job.index >= group.sets_of_jobs.size()) {
    group.sets_of_jobs.resize(job.index + size_t{1}, kNone);
  }
  uint32_t& set = group.sets_of_jobs[job.index];
  if (set == kNone) set = new_set(index, namespaces_.of(job));
  return set;
}

// Adds the pod to its services, unless the pod has left its node since pod_starts().
void Services::pod_ready(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const bool is_there = pod.state == PodState::Bound || pod.state == PodState::Running;
  if (!is_there || pod.started > engine_.now()) return;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    if (!has_members(group, pod.job)) continue;
    if (id.index >= group.members.size()) group.members.resize(id.index + size_t{1});
    Member& member = group.members[id.index];
    if (member.set != kNone) continue;
    member.set = set_of(group, g, pod.job);
    Set& set = sets_[member.set];
    member.address = set.next_address++;
    for (const ServiceId service : set.services) controller_.pod_ready(service, member.address);
  }
}

void Services::pod_gone(PodId id) {
  for (Group& group : groups_) {
    if (id.index >= group.members.size()) continue;
    Member& member = group.members[id.index];
    if (member.set == kNone) continue;
    for (const ServiceId service : sets_[member.set].services) {
      controller_.pod_gone(service, member.address);
    }
    member.set = kNone;
  }
}

void Services::job_over(JobId job) {
  for (Group& group : groups_) {
    if (job.index >= group.sets_of_jobs.size()) continue;
    const uint32_t set = std::exchange(group.sets_of_jobs[job.index], kNone);
    if (set == kNone) continue;
    for (const ServiceId service : sets_[set].services) controller_.remove_service(service);
    sets_[set].services.clear();
    free_sets_.push_back(set);
  }
}

// ---- writes and events

uint32_t& Services::name_of(ServiceId service, const ObjectWrite& write) {
  std::vector<uint32_t>& names = names_[service];
  if (write.object >= names.size()) names.resize(write.object + size_t{1});
  uint32_t& name = names[write.object];
  if (name == 0) name = store_.new_name(watchers_.resource());
  return name;
}

void Services::write(ServiceId service, const ObjectWrite& object, EndpointsController::Done done) {
  const ApiRequest request{.verb = verb_of(object.change),
                           .resource = watchers_.resource(),
                           .name_space = name_spaces_[service],
                           .bytes = object.bytes,
                           .object = name_of(service, object),
                           .answer = object.bytes};
  client_.send(request, [this, service, object, done = std::move(done)](const ApiAnswer& answer) {
    const bool is_stored = answer.outcome == ApiOutcome::Done;
    if (is_stored) stored(service, object);
    if (is_stored && object.change == Change::Delete) {
      store_.forget(std::exchange(name_of(service, object), 0));
    }
    done(is_stored);
  });
}

void Services::count(Group& group, const ObjectWrite& write) {
  group.addresses -= write.addresses_before;
  if (write.change != Change::Delete) group.addresses += write.addresses;
  if (write.change == Change::Create) ++group.objects;
  if (write.change == Change::Delete) --group.objects;
  watchers_.stored(write, group.is_headless);
}

void Services::stored(ServiceId service, const ObjectWrite& write) {
  Group& group = groups_[group_of_[service]];
  count(group, write);
  const ServiceWatchers::Costs costs = watchers_.notify(write, group.is_headless);
  ++group.sent.writes;
  group.sent.by_servers += costs.by_servers;
  group.sent.by_agents += costs.by_agents;
}

void Services::sample(Time now, double seconds) {
  double bytes = 0;
  for (Group& group : groups_) {
    const Traffic before = std::exchange(group.sampled, group.sent);
    const auto rate = [&](auto until, auto from) {
      return static_cast<double>(until - from) / seconds;
    };
    const FanOutCost &cost = group.sent.by_servers, &was = before.by_servers;
    const double sent = rate(cost.egress.count, was.egress.count);
    bytes += sent;
    samples_.emit(
        {.time = now,
         .service = std::string_view{group.params.name},
         .writes = rate(group.sent.writes, before.writes),
         .events = rate(cost.events, was.events),
         .bytes = sent,
         .cores = (cost.cpu - was.cpu).seconds() / seconds,
         .by_agents = rate(group.sent.by_agents.egress.count, before.by_agents.egress.count),
         .addresses = group.addresses,
         .objects = group.objects});
  }
  peak_ = std::max(peak_, bytes);
}

void Services::add_summary(Recorder& recorder) const {
  Traffic all;
  for (const Group& group : groups_) {
    all.writes += group.sent.writes;
    all.by_servers += group.sent.by_servers;
    all.by_agents += group.sent.by_agents;
  }
  const auto bytes = [&](std::string_view name, const FanOutCost& cost, std::string_view doc) {
    recorder.add_summary(name, cost.egress.count, "B", doc);
  };
  recorder.add_summary("watch_writes", static_cast<int64_t>(all.writes), "",
                       "writes of Endpoints or EndpointSlices");
  recorder.add_summary("watch_refused", static_cast<int64_t>(controller_.counters().refused), "",
                       "failed writes of Endpoints or EndpointSlices, which were retried later or "
                       "given up");
  recorder.add_summary("watch_events", all.by_servers.events, "",
                       "watch events of Endpoints or EndpointSlices that API servers sent");
  bytes("watch_bytes", all.by_servers,
        "size of the watch events of Endpoints or EndpointSlices that API servers sent");
  recorder.add_summary("watch_bytes_peak", peak_, "B/s",
                       "highest rate of watch_bytes in an interval of the timeline");
  bytes("watch_bytes_by_agents", all.by_agents,
        "size of the watch events of Endpoints or EndpointSlices that agents forwarded to daemons "
        "(control_plane.services.watchers.agents)");
  recorder.add_summary("watch_cpu", all.by_servers.cpu.seconds(), "s",
                       "CPU time of API servers to encode and send watch events of Endpoints or "
                       "EndpointSlices");
  recorder.add_summary("watch_lists", static_cast<int64_t>(watchers_.lists()), "",
                       "times that a watcher listed all Endpoints or EndpointSlices");
}

std::vector<std::string> Services::notes() const {
  std::vector<std::string> notes;
  for (const Group& group : groups_) {
    if (group.params.team.empty() || !group.members.empty()) continue;
    notes.push_back("control plane: no pod of team " + in_quotes(group.params.team) +
                    " ran, so services " + in_quotes(group.params.name) + " had no members");
  }
  return notes;
}

}  // namespace orrery

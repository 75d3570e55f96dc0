#include "models/control_plane/load/crash_loops.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/flow_control/flow_schemas.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"

namespace orrery {

CrashLoops::CrashLoops(Sim sim, ApiServers& servers, EtcdSplit& etcd, const Params& params)
    : engine_{sim.engine}, servers_{servers}, etcd_{etcd}, params_{params} {
  for (const CrashLoopingPodsParams& pods : params_.crash_loops) {
    groups_.push_back({.params = &pods, .loop = CrashLoop{params_.kubelet.crash_loop}});
  }
}

void CrashLoops::start(const std::vector<bool>& is_up) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const CrashLoopingPodsParams& pods = *groups_[g].params;
    const size_t nodes = std::min(static_cast<size_t>(pods.nodes), is_up.size());
    for (size_t n = 0; n < nodes; ++n) groups_[g].nodes_up += is_up[n] ? 1 : 0;
    engine_.at(Time{} + pods.from, Label{"control.crash_loop"}, [this, g] { begin_cycle(g); });
    if (!pods.until) continue;
    engine_.at(Time{} + *pods.until, Label{"control.crash_loop_ends"}, [this, g] {
      groups_[g].is_gone = true;
      set_rate(groups_[g]);
    });
  }
}

// Once the wait no longer changes, no further event is needed.
void CrashLoops::begin_cycle(size_t index) {
  Group& group = groups_[index];
  if (group.is_gone) return;
  const CrashLoopingPodsParams& pods = *group.params;
  const Duration wait = group.loop.next(pods.runs_for);
  if (wait == std::exchange(group.wait, wait)) return;
  set_rate(group);
  engine_.after(pods.runs_for + wait, Label{"control.crash_loop"},
                [this, index] { begin_cycle(index); });
}

void CrashLoops::count(NodeId node, int32_t change) {
  for (Group& group : groups_) {
    if (node.index >= static_cast<uint32_t>(group.params->nodes)) continue;
    group.nodes_up += change;
    if (group.wait != Duration::max()) set_rate(group);
  }
}

void CrashLoops::set_rate(Group& group) {
  const Time now = engine_.now();
  double before = 0;
  for (const Group& g : groups_) before += g.restarts_per_s;
  restarts_ += before * (now - std::exchange(counted_to_, now)).seconds();
  const CrashLoopingPodsParams& pods = *group.params;
  const Duration period = pods.runs_for + group.wait;
  const int64_t looping = group.is_gone ? 0 : int64_t{group.nodes_up} * pods.pods_per_node;
  const double writes = params_.kubelet.status_writes;
  const double most = group.nodes_up * params_.clients.kubelet.qps;
  group.writes_per_s = std::min(crash_loop_writes_per_s(looping, period, params_.kubelet), most);
  group.restarts_per_s =
      writes > 0 ? group.writes_per_s / writes : static_cast<double>(looping) / period.seconds();

  const Bytes bytes = params_.pods.bytes;
  const double rate = writes_per_s();
  const ApiRequest write{.verb = Verb::Patch, .bytes = bytes, .answer = bytes};
  const ApiCostParams& cost = params_.api_servers.server.cost;
  const int64_t tellers = std::min(params_.pods.watchers, params_.api_servers.servers);
  const Duration copy = nearest_ns(static_cast<double>(bytes.count) * cost.sent_byte * 1e-9);
  const Duration cpu = cost.of(write);
  const FlowClass flow =
      classify(params_.api_servers.flow_control, ApiClientKind::Kubelet, ApiResource::Pods);
  servers_.set_steady(flow.level,
                      {.requests_per_s = rate,
                       .cpu = cpu + copy * tellers,
                       .held = cpu + params_.etcd.commit_time(),
                       .sent = bytes * (1 + params_.pods.watchers)},
                      SteadySource::CrashLoops);
  etcd_.objects().set_steady_load(
      {.writes_per_s = rate,
       .stored = {.update_bytes_per_s = rate * static_cast<double>(bytes.count),
                  .updates_per_s = rate}},
      SteadySource::CrashLoops);
  servers_.watch_caches().set_rate(ApiResource::Pods, rate);
}

double CrashLoops::writes_per_s() const {
  double sum = 0;
  for (const Group& group : groups_) sum += group.writes_per_s;
  return sum;
}

void CrashLoops::add_summary(Recorder& recorder) {
  double rate = 0;
  for (const Group& g : groups_) rate += g.restarts_per_s;
  const Time now = engine_.now();
  restarts_ += rate * (now - std::exchange(counted_to_, now)).seconds();
  recorder.add_summary("container_restarts", static_cast<int64_t>(restarts_ + 0.5), "restarts",
                       "restarts of the containers of the pods in control_plane.crash_loops");
}

}  // namespace orrery

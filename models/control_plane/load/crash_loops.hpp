// models/control_plane/load/crash_loops.hpp -- load that pods in crash loops cause.
#pragma once

#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/api_server/pod_object_params.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/etcd/etcd_params.hpp"
#include "models/control_plane/etcd/etcd_split.hpp"
#include "models/control_plane/kubelet/crash_loop.hpp"
#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "models/control_plane/load/crash_loops_params.hpp"
#include "sim/core/id.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// The pods of a group restart with the same period, each at its own time, so their writes are
// modelled as a steady rate. The rate changes with the number of nodes that are up and with the
// backoff. While a group's backoff grows, each restart is one event for the whole group. Later
// restarts are not events. A kubelet writes no faster than its client's limit. Nodes that are down
// or absent are left out. Example: 100 pods run for 10 s each and wait 5 min. Each restarts every
// 310 s, so there are 0.32 restarts a second.
class CrashLoops {
 public:
  struct Params {  // the references must outlive the CrashLoops
    const std::vector<CrashLoopingPodsParams>& crash_loops;
    const PodObjectParams& pods;
    const KubeletParams& kubelet;
    const PodClientsParams& clients;
    const ApiServersParams& api_servers;
    const EtcdParams& etcd;
  };
  CrashLoops(Sim sim, ApiServers& servers, EtcdSplit& etcd, const Params& params);
  CrashLoops(const CrashLoops&) = delete;
  CrashLoops& operator=(const CrashLoops&) = delete;

  void start(const std::vector<bool>& is_up);  // by node
  void node_up(NodeId node) { count(node, 1); }
  void node_down(NodeId node) { count(node, -1); }
  void add_summary(Recorder& recorder);

 private:
  struct Group {
    const CrashLoopingPodsParams* params;
    CrashLoop loop;
    Duration wait = Duration::max();  // the present backoff; max: the group has not begun
    int32_t nodes_up = 0;             // nodes that are up and have such pods
    double writes_per_s = 0, restarts_per_s = 0;
    bool is_gone = false;
  };
  void begin_cycle(size_t group);
  void count(NodeId node, int32_t change);
  void set_rate(Group& group);
  double writes_per_s() const;

  Engine& engine_;
  ApiServers& servers_;
  EtcdSplit& etcd_;
  Params params_;
  std::vector<Group> groups_;
  double restarts_ = 0;  // up to counted_to_
  Time counted_to_;
};

}  // namespace orrery

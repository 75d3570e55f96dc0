// models/control_plane/load/crash_loops.hpp -- the load of pods whose containers end all the time.
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

// The pods of a group restart in the same rhythm, each at a time of its own, so that their writes
// are a rate, which changes only with the back-off: a few events a group. A kubelet writes no
// faster than its client may. Nodes that are down, or not there yet, are left out.
class CrashLoops {
 public:
  struct Params {  // which must outlive it
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
    Duration wait = Duration::max();  // of the present cycle
    int32_t nodes_up = 0;             // of those that have such pods
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

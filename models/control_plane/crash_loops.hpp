// models/control_plane/crash_loops.hpp -- the load of pods whose containers end all the time.
#pragma once

#include <vector>

#include "models/control_plane/api_servers.hpp"
#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/crash_loop.hpp"
#include "models/control_plane/etcd_split.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// The pods of a group restart in the same rhythm, each at a time of its own, so that their writes
// are a rate, which changes only with the back-off: a few events a group. A kubelet writes no
// faster than its client may.
class CrashLoops {
 public:
  // `params` must outlive it.
  CrashLoops(Sim sim, ApiServers& servers, EtcdSplit& etcd, const ControlPlaneParams& params);
  CrashLoops(const CrashLoops&) = delete;
  CrashLoops& operator=(const CrashLoops&) = delete;

  void start();
  double writes_per_s() const;
  void add_summary(Recorder& recorder);

 private:
  struct Group {
    const CrashLoopingPodsParams* params;
    CrashLoop loop;
    Duration wait = Duration::max();  // of the present cycle
    double writes_per_s = 0, restarts_per_s = 0;
    bool is_gone = false;
  };
  void begin_cycle(size_t group);
  void set_rate(Group& group, double restarts_per_s);

  Engine& engine_;
  ApiServers& servers_;
  EtcdSplit& etcd_;
  const ControlPlaneParams& params_;
  std::vector<Group> groups_;
  double restarts_ = 0;  // up to counted_to_
  Time counted_to_;
};

}  // namespace orrery

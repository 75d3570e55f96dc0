// models/control_plane/namespace_churn.hpp -- namespaces that come with jobs, and go or stay.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/control_plane/api_client.hpp"
#include "models/control_plane/api_servers.hpp"
#include "models/control_plane/control_plane_params.hpp"
#include "models/control_plane/etcd_split.hpp"
#include "models/control_plane/list_readers.hpp"
#include "sim/core/rng.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct NamespacesSample {
  Time time;
  int64_t namespaces = 0, leaving = 0;
  Bytes objects{};
  Duration asked_in;

  static void columns(auto&& c) {
    c("time", &NamespacesSample::time, "end of the interval");
    c("namespaces", &NamespacesSample::namespaces, "there now, also those that leave",
      "namespaces");
    c("leaving", &NamespacesSample::leaving, "that are to be deleted, or being so", "namespaces");
    c("objects", &NamespacesSample::objects, "size of what comes with them");
    c("asked_in", &NamespacesSample::asked_in,
      "how long a client took that asked for each, the last that was done; 0: none yet");
  }
};

// A namespace is made by single requests. Deletions are a queue: their requests share the client of
// one controller, and are a steady load while there are any, as those of clients that ask for each.
class NamespaceChurn {
 public:
  // `params`, which has namespaces, must outlive it.
  NamespaceChurn(Sim sim, ApiServers& servers, EtcdSplit& etcd, const ControlPlaneParams& params,
                 uint32_t nodes);
  NamespaceChurn(const NamespaceChurn&) = delete;
  NamespaceChurn& operator=(const NamespaceChurn&) = delete;

  void start();
  void job_arrived();
  void job_over();
  void sample(Time now);
  void add_summary(Recorder& recorder) const;
  int64_t most() const { return most_; }

 private:
  struct Round {
    int64_t clients = 0;
    Duration every, asked_in;
    bool is_asking = false;
  };
  void count(int64_t change);
  void begin_deletion();
  void deleted();
  void ask(size_t round);
  void set_load();
  Bytes bytes() const { return bytes_of_type(count_, each_) * each_.objects; }

  Engine& engine_;
  ApiServers& servers_;
  EtcdSplit& etcd_;
  const ControlPlaneParams& params_;
  const NamespacesParams& namespaces_;
  const NamespaceParams& each_;
  Rng rng_;
  ApiClient user_, controller_manager_;
  std::vector<std::unique_ptr<ListReaders>> readers_;
  std::vector<Round> rounds_;
  int64_t count_ = 0, most_ = 0;
  std::deque<Time> leaving_;  // when each was told to
  std::deque<Time> ends_;     // of the last deletions, one for each worker
  Time requests_end_;         // of the deletion whose requests were sent last
  size_t begun_ = 0;          // of those that leave
  Duration longest_;
  uint64_t deleted_ = 0;
  Channel<NamespacesSample> samples_;
};

}  // namespace orrery

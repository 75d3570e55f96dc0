// models/control_plane/load/namespace_churn.hpp -- creates namespaces for jobs and deletes them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/base/job_namespaces.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/list_readers.hpp"
#include "models/control_plane/clients/pod_clients_params.hpp"
#include "models/control_plane/etcd/etcd_store.hpp"
#include "models/control_plane/load/namespaces_params.hpp"
#include "sim/core/id.hpp"
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
    c("namespaces", &NamespacesSample::namespaces,
      "namespaces that exist now, those in `leaving` included", "namespaces");
    c("leaving", &NamespacesSample::leaving,
      "namespaces that wait for deletion or are being deleted", "namespaces");
    c("objects", &NamespacesSample::objects,
      "size of all stored Namespaces and objects created with them, such as ServiceAccounts");
    c("asked_in", &NamespacesSample::asked_in,
      "time that the last finished round of queries to all namespaces took; with several "
      "control_plane.namespaces.askers, the longest such time; 0: no round finished yet");
  }
};

// A namespace is created by single requests, one for each object. A request is retried until the
// object is stored or the namespace is to be deleted. Deletions wait in a queue. While the queue is
// not empty, the requests of the namespace controller are a steady load. The requests of clients
// that query each namespace are a steady load, too.
class NamespaceChurn {
 public:
  struct Params {  // the references must outlive the NamespaceChurn
    const NamespacesParams& namespaces;
    const PodClientsParams& clients;
    const ApiServersParams& api_servers;
  };
  // `numbers` and `nodes` (true for nodes that are up) must outlive the object.
  NamespaceChurn(Sim sim, ApiServers& servers, EtcdStore& store, const JobNamespaces& numbers,
                 const Params& params, const std::vector<bool>& nodes);
  NamespaceChurn(const NamespaceChurn&) = delete;
  NamespaceChurn& operator=(const NamespaceChurn&) = delete;

  void start();
  void job_arrived(JobId job);
  void job_over(JobId job);
  void sample(Time now);
  void add_summary(Recorder& recorder) const;
  int64_t most() const { return most_; }

 private:
  struct Round {
    int64_t clients = 0;
    Duration every, asked_in;
    bool is_asking = false;
  };
  struct Space {                    // the namespace of a job
    uint32_t number = 0;            // number of the namespace in requests
    std::vector<uint32_t> objects;  // names in the store; the first is the Namespace
    Time left = Time::max();        // when the job was over
    int32_t asked = 0;              // open creations
    uint32_t use = 0;               // how many jobs have used this entry
  };
  void create(uint32_t space, size_t object, Duration pause);
  void created(uint32_t space, size_t object);
  void leave(uint32_t space);
  void drop(uint32_t space);
  void changed();  // updates most_ and the servers' memory of cached namespaces
  void begin_deletion();
  void deleted();
  void ask(size_t round);
  void set_load();
  int64_t count() const;
  int64_t objects() const;
  Bytes bytes() const { return each_.object_bytes * objects(); }

  Engine& engine_;
  ApiServers& servers_;
  EtcdStore& store_;
  const JobNamespaces& numbers_;
  Params params_;
  const NamespacesParams& namespaces_;
  const NamespaceParams& each_;
  Rng rng_;
  ApiClient user_, controller_manager_;
  std::vector<std::unique_ptr<ListReaders>> readers_;
  std::vector<Round> rounds_;
  int64_t most_ = 0;
  IdVector<JobId, uint32_t> of_jobs_;  // index of the space, by job
  std::vector<Space> spaces_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> leaving_;  // spaces to be deleted, in this order
  std::deque<Time> ends_;         // ends of the deletions in progress, at most one for each worker
  Time requests_end_;             // when the requests of the last begun deletion end
  size_t begun_ = 0;              // how many of leaving_ have begun
  Duration longest_;
  uint64_t deleted_ = 0;
  Channel<NamespacesSample> samples_;
};

}  // namespace orrery

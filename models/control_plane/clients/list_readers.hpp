// models/control_plane/clients/list_readers.hpp -- clients that list all objects of a resource
// periodically.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/control_plane/api_server/api_servers.hpp"
#include "models/control_plane/base/latency_histogram.hpp"
#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/clients/list_reader_params.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// The clients take turns, spread evenly over the period. Only the event of the next turn is
// pending. A client that still waits for its last response skips its turn. Clients on nodes share a
// service account, like the pods of a DaemonSet, and list while their node is up.
class ListReaders {
 public:
  struct Listed {
    int64_t objects = 0;
    Bytes bytes = {};  // bytes of all objects
  };
  struct Setup {
    ApiResource resource = ApiResource::Events;
    ListFrom from = ListFrom::Etcd;
    Duration every = 1_min;
    uint32_t clients = 1;
    const std::vector<bool>* nodes = nullptr;  // which nodes are up, if each node has a client
  };
  struct Counters {
    uint64_t answered = 0, failed = 0, missed = 0;  // missed: skipped turns
  };
  // `params` and `rng` must outlive the readers. `listed` returns the present size of the LIST.
  ListReaders(Engine& engine, ApiServers& servers, const ApiClientParams& params,
              const Setup& setup, std::function<Listed()> listed, Rng& rng);

  void start();
  const Counters& counters() const { return counters_; }
  const LatencyHistogram& latency() const { return latency_; }  // of responses, retries included

 private:
  void next_turn();
  void list(uint32_t client);

  Engine& engine_;
  Setup setup_;
  std::function<Listed()> listed_;
  std::vector<std::unique_ptr<ApiClient>> clients_;
  uint64_t turn_ = 0;
  Counters counters_;
  LatencyHistogram latency_;
};

}  // namespace orrery

// models/control_plane/load/event_series.hpp -- Events about failed scheduling and binding.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control_plane/clients/api_client.hpp"
#include "models/control_plane/etcd/etcd_store.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/timer.hpp"

namespace orrery {

// Works as the recorder of kube-scheduler (client-go, tools/events). The first failure to schedule
// or bind a pod creates an Event. The second failure patches this Event into a series. Further
// failures are only counted. Each series is patched every 30 min, because etcd would delete its
// Event after the time to live. A check every 6 min finds pods without a failure in the last 6 min:
// it patches their series once more, and their next failure creates a new Event. Example: a pod
// that fails every 5 s from 0 to 59 min is one Event, created at 0 s and patched at 5 s, at 30, 60
// and 66 min.
//
// Upstream, the first failure after a change of the pod's condition creates a new Event. Conditions
// are not modelled here.
class EventSeries {
 public:
  struct Setup {
    Bytes bytes;
    int32_t events = 1;  // Events for each failure, each with its own series
  };
  struct Counters {
    uint64_t occurrences = 0;
    uint64_t written = 0, patched = 0, dropped = 0;  // requests
  };
  // `engine`, `store` and `client` must outlive the object.
  EventSeries(Engine& engine, EtcdStore& store, ApiClient& client, const Setup& setup);

  // `life` is Pod::generation. A recreated pod has a new one, and so counts as another pod.
  void occurred(PodId pod, uint64_t life, uint32_t name_space);
  const Counters& counters() const { return counters_; }

 private:
  struct Series {
    PodId pod;
    uint64_t life;
    uint32_t name_space;
    Time last;
    bool is_series = false;
    std::vector<uint32_t> events;  // names in the store
  };
  struct Written {            // an Event in the store
    uint32_t unanswered = 0;  // open requests
    bool is_over = false;
  };
  void write(const Series& series, Verb verb);
  void answered(uint32_t event, Verb verb, bool is_done);
  void look();
  void end(const Series& series);

  Engine& engine_;
  EtcdStore& store_;
  ApiClient& client_;
  Setup setup_;
  // In the order of the pods' first failures. Includes pods that have failed only once.
  std::vector<Series> series_;
  std::vector<uint32_t> of_pods_;  // index into series_, by pod
  std::vector<Written> written_;   // by name
  Timer next_look_;
  Counters counters_;
};

}  // namespace orrery

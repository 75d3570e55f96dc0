// models/control_plane/load/pod_events_params.hpp -- Events that are recorded, and the clients that
// read them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/control_plane/clients/api_client_params.hpp"
#include "models/control_plane/clients/list_reader_params.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct PodEventsParams {
  static constexpr std::string_view kDoc =
      "Events about pods, kept for etcd.event_ttl. An Event that cannot be written is dropped.";
  int32_t per_pod = 5, per_failed_bind = 1;
  Bytes bytes = {1'000};
  double others_per_s = 0;
  ApiClientParams client = {.qps = 50, .burst = 100};
  std::vector<ListReaderParams> readers = {};

  template <class V>
  void fields(V& v) {
    v("per_pod", per_pod,
      "Events about a pod from its binding to its start. The scheduler records the first Event, "
      "and the kubelet the other Events.",
      Range{0, 1'000}, Unit{"Events"},
      Source{"Kubernetes: Scheduled, Pulling, Pulled, Created, Started"});
    v("per_failed_bind", per_failed_bind,
      "Events that the scheduler records for a failed attempt to schedule or bind a pod. If a "
      "gang fails, these Events are recorded for each of its pods. The second failure of a pod "
      "turns its Event into a series; later failures are only counted. A series is updated every "
      "30 min. The series ends with one more update after 6 min without a failure.",
      Range{0, 1'000}, Unit{"Events"},
      Source{"Kubernetes: FailedScheduling; client-go, tools/events"});
    v("bytes", bytes, "Size of one Event.", Range{1_B, 1_MiB},
      Source{"estimate: names, reason, message, source and managed fields"});
    v("others_per_s", others_per_s,
      "Events of other recorders, such as health checks and cron jobs: a steady load.",
      Range{0.0, 1e6}, Unit{"Events/s"}, Source{"their rate is not known"});
    v("client", client,
      "Limits on the Events of each recorder (the scheduler or a kubelet). A recorder's other "
      "requests do not count against these limits.",
      Source{"kubelet: eventRecordQPS 50, eventBurst 100"},
      Heeded{per_pod > 0 || per_failed_bind > 0, "per_pod and per_failed_bind are 0"});
    v("readers", readers, "Clients that list all Events periodically.");
  }
  void check(Checker& c) const {
    const bool has_client = per_pod > 0 || per_failed_bind > 0;
    if (!has_client && others_per_s == 0) {
      c.error("per_pod", "must not be 0 without other recorders: no Event would be recorded");
    }
  }
};

}  // namespace orrery

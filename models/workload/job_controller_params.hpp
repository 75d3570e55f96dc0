// models/workload/job_controller_params.hpp -- how jobs are started, watched and restarted.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

struct JobControllerParams;  // fields() below are read by sim/config/fields.hpp

// A span that is always `median` (sigma 0) or lognormal around it.
struct StartLatencyParams {
  Duration median = {};
  double sigma = 0;

  template <class V>
  void fields(V& v);
  static constexpr std::string_view kDoc = "From a pod's binding until its containers run.";
};

struct JobControllerParams {
  int32_t concurrent_syncs = 5;
  int32_t pods_per_sync_max = 500;
  Duration pod_creation_interval = {};
  StartLatencyParams pod_start = {};
  Duration failure_detection = 5_s;
  Duration restart_delay = 10_s;
  bool record_pods = true;  // set by the `record` section, not a field of this one

  template <class V>
  void fields(V& v);
  static constexpr std::string_view kDoc = "How jobs are started, watched and restarted.";
};

}  // namespace orrery

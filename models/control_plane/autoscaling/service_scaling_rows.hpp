// models/control_plane/autoscaling/service_scaling_rows.hpp -- rows of /events/service_scaling and
// /timeline/service_load.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

struct ServiceScalingRow {
  Time time;
  FixedText<32> service = {};
  int32_t before = 0, after = 0, recommended = 0, running = 0;
  double use = 0;

  static void columns(auto&& c) {
    c("time", &ServiceScalingRow::time, "when the number of replicas was changed");
    c("service", &ServiceScalingRow::service, "name of the service");
    c("before", &ServiceScalingRow::before, "replicas wanted until this time", "pods");
    c("after", &ServiceScalingRow::after, "replicas wanted from this time on", "pods");
    c("recommended", &ServiceScalingRow::recommended,
      "replicas that the metrics alone ask for, before replica limits, stabilization windows and "
      "scaling policies apply",
      "pods");
    c("running", &ServiceScalingRow::running, "replicas that ran at this time", "pods");
    c("use", &ServiceScalingRow::use,
      "mean use of the replicas as a share of their resource requests, by the metrics last "
      "collected",
      "share");
  }
};

struct ServiceLoadSample {
  Time time;
  FixedText<32> service = {};
  int32_t replicas = 0, running = 0;
  double load = 0, use = 0;

  static void columns(auto&& c) {
    c("time", &ServiceLoadSample::time, "end of the interval; all columns are of that instant");
    c("service", &ServiceLoadSample::service, "name of the service");
    c("replicas", &ServiceLoadSample::replicas, "replicas that are wanted", "pods");
    c("running", &ServiceLoadSample::running, "replicas that run", "pods");
    c("load", &ServiceLoadSample::load, "number of replicas that the load would keep fully busy",
      "pods");
    c("use", &ServiceLoadSample::use, "used share of the capacity of each running replica",
      "share");
  }
};

}  // namespace orrery

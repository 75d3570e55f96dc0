// models/control_plane/flow_control/priority_and_fairness_params.hpp -- seats of priority levels of
// an API server, as a scenario describes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/control_plane/base/retry_after.hpp"
#include "models/control_plane/flow_control/priority_level_params.hpp"
#include "models/facts/fact.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class FlowControlMode : uint8_t { PriorityAndFairness, MaxInflight };
constexpr std::array<std::string_view, 2> enum_names(FlowControlMode) {
  return {"priority_and_fairness", "max_inflight"};
}
struct FlowControlParams {
  static constexpr std::string_view kDoc =
      "How many requests each API server executes at a time, and which requests come first.";
  FlowControlMode mode = FlowControlMode::PriorityAndFairness;
  int32_t max_requests_inflight = 400, max_mutating_requests_inflight = 200;
  std::vector<PriorityLevelParams> levels = default_priority_levels();
  std::vector<FlowSchemaParams> schemas = default_flow_schemas();
  Duration adjust_every = 10_s, wait_limit = 15_s, service_guess = 60_s;
  double smoothing = 0.977;
  int32_t list_objects_per_seat = 100, watchers_per_seat = 10, seats_per_request_max = 10;
  Duration watch_event_time = 5_ms;
  RetryAfterKind retry_after = RetryAfterKind::Constant;

  template <class V>
  void fields(V& v) {
    const Heeded kOfSeats{mode == FlowControlMode::PriorityAndFairness,
                          "mode is max_inflight, in which nothing waits for seats"};
    v("mode", mode,
      "priority_and_fairness: API Priority and Fairness; max_inflight: only two limits, "
      "max_requests_inflight and max_mutating_requests_inflight, as in older releases.");
    v("max_requests_inflight", max_requests_inflight,
      "With max_inflight: limit on the reads that a server executes at a time. With "
      "priority_and_fairness: the sum of this limit and max_mutating_requests_inflight is the "
      "server's number of seats. A request in execution takes one or more seats.",
      Range{1, 1'000'000}, Unit{"requests"}, Source{"kube-apiserver --max-requests-inflight"});
    v("max_mutating_requests_inflight", max_mutating_requests_inflight,
      "With max_inflight: limit on the writes that a server executes at a time. With "
      "priority_and_fairness: see max_requests_inflight.",
      Range{1, 1'000'000}, Unit{"requests"},
      Source{"kube-apiserver --max-mutating-requests-inflight"});
    v("levels", levels, "Priority levels, which share the seats of a server.",
      Source{"Kubernetes >= 1.26: bootstrap defaults"});
    v("schemas", schemas, "Flow schemas, which assign requests to priority levels.",
      Source{"Kubernetes >= 1.26: bootstrap defaults"});
    v("adjust_every", adjust_every,
      "Time between adjustments of the seats that levels lend and borrow; 0: never.",
      Source{"KEP-1040: 10 s"}, kOfSeats);
    v("smoothing", smoothing,
      "Weight of the old value in the smoothed demand of a level, computed at each adjustment of "
      "seats. A rise of the demand is not smoothed.",
      Range{0.0, 0.999999}, Unit{"ratio"}, Source{"KEP-1040: a half-life of about 5 min"},
      kOfSeats);
    v("wait_limit", wait_limit, "A request is rejected after waiting this long for a seat.",
      Range{1_ms, 24_h}, Source{"k8s.io/apiserver: a quarter of the request timeout"}, kOfSeats);
    v("service_guess", service_guess, "Fair queuing's initial estimate of a request's duration.",
      Range{1_us, 1_h}, Source{"KEP-1040: 60 s is a good choice for this estimate, called G"},
      kOfSeats);
    v("list_objects_per_seat", list_objects_per_seat,
      "A LIST takes one seat for this many objects, rounded up.", Range{1, 1'000'000'000},
      Unit{"objects"}, Source{"k8s.io/apiserver: list work estimator"}, kOfSeats,
      Heeded{Fact::Lists});
    v("watchers_per_seat", watchers_per_seat,
      "A write takes one seat for this many watchers of its resource, rounded up.",
      Range{1, 1'000'000'000}, Unit{"watchers"},
      Source{"k8s.io/apiserver: mutating work estimator"}, kOfSeats);
    v("watch_event_time", watch_event_time,
      "How long a write with at least watchers_per_seat watchers keeps its seats after its "
      "response. If the write would need more than seats_per_request_max seats, this time is "
      "multiplied by (needed seats) / seats_per_request_max.",
      Range{Duration{}, 1_min}, Source{"k8s.io/apiserver: mutating work estimator"}, kOfSeats);
    v("seats_per_request_max", seats_per_request_max,
      "Maximum number of seats that one request takes.", Range{1, 100'000}, Unit{"seats"},
      Source{"k8s.io/apiserver: 10"}, kOfSeats);
    v("retry_after", retry_after,
      "Retry-After of rejected requests. constant: 1 s; adaptive: 1 to 32 s, longer while more "
      "requests are rejected.",
      Source{"k8s.io/apiserver before 1.28 (since then adaptive)"});
  }
  void check(Checker& c) const;
  std::vector<std::string> level_names() const;
};

}  // namespace orrery

// models/telemetry/timeline_params.hpp -- intervals of the sampled series.
#pragma once

#include <optional>
#include <string_view>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct TimelineParams {
  static constexpr std::string_view kDoc = "Series sampled at regular intervals.";

  Duration interval = 60_s;
  std::optional<Duration> teams_interval = {};

  template <class V>
  void fields(V& v) {
    v("interval", interval,
      "Time between two samples of the cluster, useful compute, the network, stores, nodes, "
      "services and the control plane.",
      Range{1_ms, Duration::max()}, Source{"a common interval of monitoring systems"});
    v("teams_interval", teams_interval,
      "Time between two samples of the teams; a multiple of `interval`. 0: no /timeline/teams. "
      "Absent: 1 h, rounded up to a multiple of `interval`.");
  }
  template <class C>
  void check(C& c) const {
    if (between_teams() % interval != Duration{}) {
      c.error("teams_interval", "must be a multiple of interval");
    }
  }
  // Time between two rows of a team; zero: no rows. Example: if `interval` is 25 min and
  // `teams_interval` is absent, the time is 75 min.
  Duration between_teams() const {
    if (teams_interval) return *teams_interval;
    const Duration rest = 1_h % interval;
    return rest == Duration{} ? 1_h : 1_h + (interval - rest);
  }
};

}  // namespace orrery

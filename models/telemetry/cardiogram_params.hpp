// models/telemetry/cardiogram_params.hpp -- which ranks are recorded, when and at which resolution.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct CardiogramWindow {
  static constexpr std::string_view kDoc = "From one instant of the run to another.";

  Duration from = {};
  Duration to = {};

  template <class V>
  void fields(V& v) {
    v("from", from, "When the window begins, from the start of the run.");
    v("to", to, "When the window ends, from the start of the run.", Required{});
  }
  template <class C>
  void check(C& c) const {
    if (to <= from) c.error("to", "must be after `from`: the window is empty");
  }
};

struct CardiogramParams {
  static constexpr std::string_view kDoc =
      "Activity of each GPU of chosen jobs over a window: rows of /timeline/cardiogram.";

  std::vector<std::string> jobs = {};
  CardiogramWindow window = {};
  Duration resolution = 10_ms;

  template <class V>
  void fields(V& v) {
    v("jobs", jobs, "Names of jobs. All gangs of jobs with these names are recorded.", Required{},
      Example{"[train]"});
    v("window", window,
      "The window in which rows are recorded. Recording slows the simulator only in this window.",
      Required{});
    v("resolution", resolution,
      "Time between two rows of a rank. A row holds means over this time. If training steps are "
      "shorter, these are means over several steps.",
      Range{1_us, Duration::max()}, Source{"steps of large models take seconds"});
  }
  template <class C>
  void check(C& c) const {
    if (jobs.empty()) c.error("jobs", "needs the name of a job");
    for (size_t i = 0; i < jobs.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (jobs[k] != jobs[i]) continue;
        c.error("jobs[" + std::to_string(i) + "]", "is in the list already");
        break;
      }
    }
  }
};

}  // namespace orrery

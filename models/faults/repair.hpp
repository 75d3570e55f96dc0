// models/faults/repair.hpp -- duration of a repair, as a scenario describes it.
#pragma once

#include <string_view>
#include <variant>

#include "sim/config/options.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

constexpr Duration kRepairMax = 60_d;
constexpr const char* kRepairAtOnce = "the node is up again in the instant in which it fails";

struct LognormalRepair {
  static constexpr std::string_view kKind = "lognormal";
  Duration median = 630_min;
  double sigma = 2.74;
  Duration max = kRepairMax;
  template <class V>
  void fields(V& v) {
    v("median", median,
      "Half of the repairs take less time. Historic HPC sites have 54min with sigma 1.94.",
      Range{1_ns, Duration::max()},
      Source{"hardware incidents of SuperBench, our fit: mu = -0.831 with times in days"});
    v("sigma", sigma, "Standard deviation of the logarithm of the duration.", Range{0.0, 10.0},
      Source{"hardware incidents of SuperBench, our fit"});
    v("max", max, "Longer repairs are cut to this duration.", Range{1_ns, Duration::max()},
      Source{"estimate: 10 % of the fit is beyond 14 d, and no data support its far tail"});
  }
  template <class C>
  void check(C& c) const {
    if (max < median) c.error("max", "must not be below median: most repairs would be cut");
  }
  Duration draw(Rng& rng) const;
};
struct ExponentialRepair {
  static constexpr std::string_view kKind = "exponential";
  Duration mean = 355_min;
  Duration max = kRepairMax;
  template <class V>
  void fields(V& v) {
    v("mean", mean,
      "Mean before the cut to `max`. At LANL: hardware 342min, software 369min, network 247min.",
      Range{1_ns, Duration::max()},
      Source{"mean repair of LANL's HPC systems: 355min over all classes, 247min for network"});
    v("max", max, "Longer repairs are cut to this duration.", Range{1_ns, Duration::max()},
      Source{"estimate: as for lognormal repairs"});
  }
  template <class C>
  void check(C& c) const {
    if (max < mean) c.error("max", "must not be below mean: over a third of repairs would be cut");
  }
  Duration draw(Rng& rng) const;
};
struct FixedRepair {
  static constexpr std::string_view kKind = "fixed";
  Duration duration = 15_min;
  template <class V>
  void fields(V& v) {
    v("duration", duration, "Every repair takes this long.",
      Source{"estimate: a reboot takes 10 to 20 min"});
  }
  template <class C>
  void check(C& c) const {
    if (duration == Duration{}) c.warning("duration", kRepairAtOnce);
  }
  Duration draw(Rng&) const { return duration; }
};
using RepairDistribution = std::variant<LognormalRepair, ExponentialRepair, FixedRepair>;

}  // namespace orrery

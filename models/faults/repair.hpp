// models/faults/repair.hpp -- duration of a repair, as a scenario describes it.
#pragma once

#include <string_view>
#include <variant>

#include "sim/config/options.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

constexpr Duration kRepairMax = 60_d;
constexpr const char* kRepairAtOnce =
    "the repair takes no time: what fails is up again in the same instant";

struct LognormalRepair {
  static constexpr std::string_view kKind = "lognormal";
  Duration median = 630_min;
  double sigma = 2.74;
  Duration max = kRepairMax;
  template <class V>
  void fields(V& v) {
    v("median", median,
      "Half of the repairs are shorter than this. Published for historic HPC sites: 54min, with a "
      "sigma of 1.94.",
      Range{1_ns, Duration::max()},
      Source{
          "our fit to the hardware incidents of SuperBench, with mu = -0.831 for times in days"});
    v("sigma", sigma, "Standard deviation of the logarithm of the duration.", Range{0.0, 10.0},
      Source{"our fit to the hardware incidents of SuperBench"});
    v("max", max, "Longer repairs are cut to this duration.", Range{1_ns, Duration::max()},
      Source{"an estimate; the fit alone puts 10 % of the repairs beyond 14 d, where no data "
             "support the fit"});
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
      "Mean of the distribution, before repairs are cut to `max`. Means at LANL: 355min for all "
      "failures, 342min for hardware, 369min for software, 247min for network.",
      Range{1_ns, Duration::max()}, Source{"mean repair time at LANL's HPC systems"});
    v("max", max, "Longer repairs are cut to this duration.", Range{1_ns, Duration::max()},
      Source{"an estimate, as for lognormal repairs"});
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
      Source{"an estimate; a reboot takes 10 to 20 min"});
  }
  template <class C>
  void check(C& c) const {
    if (duration == Duration{}) c.warning("duration", kRepairAtOnce);
  }
  Duration draw(Rng&) const { return duration; }
};
using RepairDistribution = std::variant<LognormalRepair, ExponentialRepair, FixedRepair>;

}  // namespace orrery

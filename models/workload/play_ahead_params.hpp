// models/workload/play_ahead_params.hpp -- how much is played of gangs that share full links.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"

namespace orrery {

struct PlayAheadParams {
  static constexpr std::string_view kDoc =
      "With steps: rate, gangs whose exchanges could fill a link together are played ahead step by "
      "step whenever something changes among them, to find how long their steps take from then on; "
      "and so is a gang alone for a while, when its links change.";
  int32_t gangs = 64;
  int32_t steps = 100'000;

  template <class V>
  void fields(V& v) {
    v("gangs", gangs,
      "Gangs that are played together. Those that meet more, directly or through others, share "
      "links as if all exchanged all the time, the most that they can hinder one another. 0: all "
      "do.",
      Range{0, 4096}, Unit{"gangs"}, Source{"estimate: 0.1 s for each change at most"});
    v("steps", steps,
      "Of all that are played together, after each change; if they do not repeat themselves by "
      "then, their mean goes on.",
      Range{16, 100'000'000}, Unit{"steps"},
      Source{"estimate: with so many, random gangs that meet end when traced ones do"});
  }
  void check(Checker& c) const {
    if (gangs == 0 && c.is_given("steps")) c.idle("steps", "has no effect with gangs: 0");
  }
};

}  // namespace orrery

// models/telemetry/useful_curve.hpp -- compute per interval, corrected when a failure undoes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Intervals of equal length from time 0, the last one open. A loss reaches back over many of them:
// the two at its ends are corrected at once, those between by a difference array, so that a loss
// costs the same however far it reaches. The curve is known only at the end of the run.
class UsefulCurve {
 public:
  explicit UsefulCurve(Duration interval) : interval_{interval}, bins_(2) {}

  // Closes the present interval, in which so much was computed: rate times nanoseconds.
  void close(int128_t computed) {
    bins_[bins_.size() - 2].computed += computed;
    bins_.emplace_back();
  }
  // Takes back `rate` from `from` until `to`, which lies in the present interval.
  void take_back(Time from, Time to, int64_t rate) {
    const size_t first = bin_of(from);
    const size_t last = bin_of(to);
    const int128_t amount = rate;
    if (first == last) {
      bins_[first].computed -= amount * (to - from).ns;
      return;
    }
    bins_[first].computed -= amount * (end_of(first) - from).ns;
    bins_[last].computed -= amount * (to - end_of(last - 1)).ns;
    bins_[first + 1].taken_back += amount;
    bins_[last].taken_back -= amount;
  }
  // What remains of each closed interval, first to last.
  template <class F>
  void for_each(F&& f) const {
    int128_t taken_back = 0;
    for (size_t i = 0; i + 2 < bins_.size(); ++i) {
      taken_back += bins_[i].taken_back;
      f(bins_[i].computed - taken_back * interval_.ns);
    }
  }

 private:
  struct Bin {
    int128_t computed = 0;
    int128_t taken_back = 0;  // rate from this interval on, more than in the one before
  };
  Time end_of(size_t bin) const { return Time{} + interval_ * static_cast<int64_t>(bin + 1); }
  // An instant between two intervals belongs to the later one, unless that is not open yet.
  size_t bin_of(Time t) const {
    return std::min(static_cast<size_t>((t - Time{}) / interval_), bins_.size() - 2);
  }
  Duration interval_;
  std::vector<Bin> bins_;  // the last but one is open; the last only ends differences
};

}  // namespace orrery

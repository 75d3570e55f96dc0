// models/telemetry/useful_curve.hpp -- useful compute per interval: compute that no failure undid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/workload/job/job_usage.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Intervals have equal length and begin at time 0. Compute is held as pieces until it is saved, for
// example by a checkpoint, or lost. Saved pieces are booked to the intervals in which the compute
// was done. Lost pieces are dropped. Held pieces are not in the curve, so the curve is complete
// only when the simulation has ended.
//
// Example with intervals of 60 s: a gang computes on 8 GPUs for 100 s, writes a checkpoint until
// 110 s, computes again and dies at 150 s. The compute of the first 100 s is booked as 8 GPUs in
// the first interval and 5.33 in the second; the compute after 110 s is dropped.
//
// All pieces of a run within one interval are merged into one. A run that changes its pace in more
// than kPiecesMax intervals without a checkpoint would need more than kPiecesMax pieces. Then
// neighbouring pieces are merged until at most kPiecesMax / 2 are left.
class UsefulCurve {
 public:
  static constexpr size_t kPiecesMax = 1024;  // the pieces of a run take at most 32 kB

  explicit UsefulCurve(Duration interval) : interval_{interval} {}

  void work_done(const WorkDone& done);
  void work_settled(const WorkSettled& settled);
  // Calls f once for each of the first `intervals` intervals, with the compute of the interval in
  // nano-GPUs times nanoseconds. The last call also includes the compute of all later intervals.
  template <class F>
  void for_each(size_t intervals, F&& f) const {
    if (intervals == 0) return;
    int128_t rate = 0, sum = 0;
    for (size_t i = 0; i < std::max(intervals, bins_.size()); ++i) {
      if (i < bins_.size()) {
        rate += bins_[i].rate;
        sum += bins_[i].computed + rate * interval_.ns;
      }
      if (i + 1 >= intervals && i + 1 < bins_.size()) continue;
      f(sum);
      sum = 0;
    }
  }

 private:
  struct Piece {
    Time from, to;
    int128_t computed = 0;
  };
  using Run = std::vector<Piece>;  // in order of time
  struct Bin {
    int128_t computed = 0;  // compute in this bin of pieces that begin or end in it
    // Sum of the rates of pieces that cover the whole bin, minus the same sum of the previous bin.
    int128_t rate = 0;
  };
  Run& run_of(JobId job, PodId pod);
  size_t bin_of(Time t) const { return static_cast<size_t>((t - Time{}) / interval_); }
  size_t last_bin_of(const Piece& piece) const;
  static void drop(Run& run, int128_t computed);
  static Piece take_first(Piece& piece, int128_t computed);
  void merge(Run& run) const;
  void book(const Piece& piece);

  Duration interval_;
  std::vector<Run> jobs_, pods_;  // by id
  std::vector<Bin> bins_;
};

}  // namespace orrery

#include "models/telemetry/useful_curve.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Nano-GPUs in a milli-GPU. book() rounds rates to whole nano-GPUs, which is precise enough.
constexpr int128_t kNanoOfMilli = 1'000'000;

}  // namespace

UsefulCurve::Run& UsefulCurve::run_of(JobId job, PodId pod) {
  std::vector<Run>& runs = pod.is_valid() ? pods_ : jobs_;
  const size_t index = pod.is_valid() ? pod.index : job.index;
  if (index >= runs.size()) runs.resize(index + 1);
  return runs[index];
}

// The interval in which a piece ends; if it ends exactly between two intervals, the earlier one.
size_t UsefulCurve::last_bin_of(const Piece& piece) const {
  return piece.to > piece.from ? bin_of(piece.to - 1_ns) : bin_of(piece.from);
}

void UsefulCurve::work_done(const WorkDone& done) {
  Run& run = run_of(done.job, done.pod);
  const int128_t computed = done.computed * kNanoOfMilli;
  if (computed < 0) return drop(run, -computed);
  const Piece piece{done.from, done.to, computed};
  if (run.empty() || bin_of(run.back().from) != last_bin_of(piece)) {
    if (run.size() == kPiecesMax) merge(run);
    run.push_back(piece);
    return;
  }
  run.back().to = piece.to;
  run.back().computed += computed;
}

void UsefulCurve::work_settled(const WorkSettled& settled) {
  Run& run = run_of(settled.job, settled.pod);
  drop(run, settled.lost * kNanoOfMilli);
  int128_t left = settled.kept * kNanoOfMilli;
  size_t whole = 0;
  for (; left > 0; ++whole) {
    ORRERY_CHECK(whole < run.size(), "what is kept was computed");
    if (run[whole].computed > left) break;
    left -= run[whole].computed;
    book(run[whole]);
  }
  if (left > 0) book(take_first(run[whole], left));
  run.erase(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(whole));
}

// Removes the last part of a run. `computed` is the compute of this part.
void UsefulCurve::drop(Run& run, int128_t computed) {
  for (; computed > 0; run.pop_back()) {
    ORRERY_CHECK(!run.empty(), "what is lost was computed");
    Piece& latest = run.back();
    if (latest.computed > computed) {
      latest = take_first(latest, latest.computed - computed);
      return;
    }
    computed -= latest.computed;
  }
}

// Cuts off the first part of a piece. `computed` is the compute of this part; the piece must have
// more.
UsefulCurve::Piece UsefulCurve::take_first(Piece& piece, int128_t computed) {
  const double part = static_cast<double>(computed) / static_cast<double>(piece.computed);
  const Time until = piece.from + nearest_ns((piece.to - piece.from).seconds() * part);
  const Piece first{piece.from, std::min(until, piece.to), computed};
  piece.from = first.to;
  piece.computed -= computed;
  return first;
}

// Merges neighbours that together last at most `span`. The span doubles until at most
// kPiecesMax / 2 pieces are left.
void UsefulCurve::merge(Run& run) const {
  ORRERY_MARK("telemetry.useful_pieces_merged");
  for (Duration span = interval_; run.size() > kPiecesMax / 2; span = span * 2) {
    size_t last = 0;
    for (size_t i = 1; i < run.size(); ++i) {
      if (run[i].to - run[last].from > span) {
        run[++last] = run[i];
      } else {
        run[last].to = run[i].to;
        run[last].computed += run[i].computed;
      }
    }
    run.resize(last + 1);
  }
}

// Spreads a piece evenly over the intervals that it covers. The remainder of the division goes to
// the last interval.
void UsefulCurve::book(const Piece& piece) {
  const size_t last = last_bin_of(piece), first = std::min(bin_of(piece.from), last);
  if (last >= bins_.size()) bins_.resize(last + 1);
  int128_t left = piece.computed;
  if (first < last) {
    const int128_t rate = left / (piece.to - piece.from).ns;
    const Duration at_first = Time{} + interval_ * static_cast<int64_t>(first + 1) - piece.from;
    bins_[first].computed += rate * at_first.ns;
    bins_[first + 1].rate += rate;
    bins_[last].rate -= rate;
    left -= rate * (at_first.ns + interval_.ns * static_cast<int64_t>(last - first - 1));
  }
  bins_[last].computed += left;
}

}  // namespace orrery

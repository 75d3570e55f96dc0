// Rounds of futile attempts: what is counted, and which attempts are alike.
#include <algorithm>
#include <array>

#include "models/scheduling/cycle/scheduler.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {

void Scheduler::count_attempts(uint64_t counts) {
  counters_.attempts += counts;
  const uint64_t before = attempts_in_vain_;
  attempts_in_vain_ += counts;
  if (attempts_in_vain_ / kVainAttempts != before / kVainAttempts) tried_in_vain.emit();
}

void Scheduler::compress_rounds(Time end, bool may_be_stopped) {
  if (parts_.log.is_on()) return;
  compresses_until_ = end;
  may_be_stopped_ = may_be_stopped;
}

int64_t Scheduler::repeats() {
  if (compresses_until_ == Time{}) return 1;
  const Time now = sim_.engine.now();
  const auto next_event = [&] {
    // A gang whose pause ends makes a round unlike those before it.
    const auto pauses = [now](const GangTrack& gang) { return gang.backoff_until > now; };
    if (std::ranges::any_of(parts_.tracks.gangs(), pauses)) return now;
    // A unit that fails now must not get to the end of its backoff before the round is over.
    const QueueParams& params = parts_.line.queue().params();
    const Time backoff_ends = now + params.max_backoff - Duration{SchedulingQueue::kWindow};
    return std::min({sim_.engine.next_time(), parts_.line.queue().next_flush(now), backoff_ends,
                     compresses_until_});
  };
  const uint64_t to_next_stop = kVainAttempts - attempts_in_vain_ % kVainAttempts;
  return rounds_.repeats(now, next_event, may_be_stopped_ ? to_next_stop - 1 : UINT64_MAX);
}

// What an attempt did, and how it left the scheduler; equal marks mean equal attempts.
uint64_t Scheduler::round_mark(PodId unit) {
  const NodeId node = parts_.placements.node_of(unit);
  const std::array<uint64_t, 6> parts{unit.index,
                                      node.is_valid() ? uint64_t{node.index} + 1 : 0,
                                      parts_.tracks.pods_waiting,
                                      parts_.line.queue().active(),
                                      parts_.line.queue().size(),
                                      framework().next_start()};
  uint64_t mark = 0;
  for (const uint64_t part : parts) mark = scattered(mark ^ part);
  return mark;
}

}  // namespace orrery

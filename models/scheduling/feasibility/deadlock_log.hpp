// models/scheduling/feasibility/deadlock_log.hpp -- records when each deadlock begins and ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/scheduling/feasibility/deadlock_rows.hpp"
#include "models/scheduling/feasibility/stuck_jobs.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Follows deadlocks from one examination to the next. A group of stuck jobs continues a deadlock if
// it contains one of the deadlock's jobs. So a deadlock keeps its number while members join and
// leave. Example: deadlock 1 has A and B. Then C joins and A leaves: the group {B, C} is still
// deadlock 1. If a group shares jobs with several deadlocks, it continues the oldest that no other
// group continues.
class DeadlockLog {
 public:
  explicit DeadlockLog(Sim sim);
  // `groups` are the groups that are stuck now. If no group continues a deadlock, the deadlock
  // ends: it has merged with another deadlock, or `changes` tells the reason.
  void update(std::span<const StuckGroup> groups, const StuckChanges& changes);
  void finish(Time end);

  uint32_t total() const { return next_id_; }
  size_t present() const { return deadlocks_.size(); }
  // How often a member joined or left a deadlock. All members leave when the deadlock ends.
  uint64_t changes() const { return changes_; }
  double gpu_s_lost(Time now) const;

 private:
  struct Member {
    StuckJob most;  // the most pods and GPUs that each gang held while the job was a member
    Time joined;
  };
  struct Deadlock {
    DeadlockRow row;
    std::vector<Member> members;  // sorted by the job's serial (most.serial)
    int64_t gpu_milli = 0;        // held by the members now
    int128_t lost = 0;            // GPU time until `since`, in milli-GPU nanoseconds
    Time since;                   // `lost` includes GPU time until then
    bool is_continued = false;
  };
  static bool shares_member(const Deadlock& deadlock, const StuckGroup& group);
  void advance(Time now);
  void continue_with(Deadlock& deadlock, const StuckGroup& group);
  DeadlockEnd why_ended(const Deadlock& deadlock, std::span<const StuckGroup> groups,
                        const StuckChanges& changes) const;
  void write_member(const Deadlock& deadlock, const Member& member, Time left);
  void write(const Deadlock& deadlock, Time resolved_at, DeadlockEnd why);

  Sim sim_;
  std::vector<Deadlock> deadlocks_;  // deadlocks that have not ended, sorted by id
  uint32_t next_id_ = 0;
  uint64_t changes_ = 0;
  double gpu_s_lost_ended_ = 0;
  Channel<DeadlockRow> rows_;
  Channel<DeadlockMemberRow> member_rows_;
};

}  // namespace orrery

// models/scheduling/feasibility/deadlock_log.hpp -- deadlocks from their start to their end.
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

// Follows deadlocks from one examination to the next. A group of stuck jobs continues the oldest
// deadlock that one of them was in, so a deadlock keeps its number while members join and leave.
// Example: deadlock 1 has A and B. Then C joins and A leaves: the group {B, C} is still deadlock 1.
class DeadlockLog {
 public:
  explicit DeadlockLog(Sim sim);
  // Takes the groups that are stuck from now on; `changes` give the reasons why others no longer
  // are.
  void update(std::span<const StuckGroup> groups, const StuckChanges& changes);
  void finish(Time end);

  uint32_t total() const { return next_id_; }
  size_t present() const { return deadlocks_.size(); }
  uint64_t changes() const { return changes_; }  // deadlocks and members that came or went
  double gpu_s_lost(Time now) const;

 private:
  struct Member {
    StuckJob most;  // the most that it held
    Time joined;
  };
  struct Deadlock {
    DeadlockRow row;
    std::vector<Member> members;  // by serial
    int64_t gpu_milli = 0;        // held now
    int128_t lost = 0;            // milli-GPUs times nanoseconds
    Time since;                   // since when it holds `gpu_milli`
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
  std::vector<Deadlock> deadlocks_;  // present ones, by id
  uint32_t next_id_ = 0;
  uint64_t changes_ = 0;
  double gpu_s_lost_ended_ = 0;
  Channel<DeadlockRow> rows_;
  Channel<DeadlockMemberRow> member_rows_;
};

}  // namespace orrery

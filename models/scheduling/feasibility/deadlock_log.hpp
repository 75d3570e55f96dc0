// models/scheduling/feasibility/deadlock_log.hpp -- deadlocks from their onset to their end, as
// rows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/core/enum_names.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

enum class DeadlockEnd : uint8_t {
  Unresolved,       // at the end of the run
  Timeout,          // reservations of members were given up: Permit timed out or was refused
  PodsDeleted,      // members lost pods: deleted, preempted, or on a node that failed
  CapacityAdded,    // nodes became available
  MemberCompleted,  // a member got all its pods after all
  Merged,           // its members went over into an older deadlock
};
constexpr std::array<std::string_view, 6> enum_names(DeadlockEnd) {
  return {"unresolved", "timeout", "pods_deleted", "capacity_added", "member_completed", "merged"};
}

struct DeadlockRow {
  uint32_t id = 0;
  Time onset, resolved_at = Time{-1};
  DeadlockEnd resolution = DeadlockEnd::Unresolved;
  uint32_t members = 0;
  double gpus_held = 0, gpu_s_lost = 0;

  static void columns(auto&& c) {
    c("id", &DeadlockRow::id, "number of the deadlock, in order of onset");
    c("onset", &DeadlockRow::onset, "first instant at whose end no member could complete");
    c("resolved_at", &DeadlockRow::resolved_at, "when it dissolved; -1: not in this run");
    c("resolution", &DeadlockRow::resolution, "what dissolved it");
    c("members", &DeadlockRow::members, "jobs in it, at most at a time", "jobs");
    c("gpus_held", &DeadlockRow::gpus_held, "held by its members, at most at a time", "GPU");
    c("gpu_s_lost", &DeadlockRow::gpu_s_lost, "GPU time its members held while in it", "GPU s");
  }
};

struct DeadlockMemberRow {  // one gang of a job that is a member
  uint32_t deadlock = 0;
  uint64_t job = 0;
  int32_t gang = 0;
  Time joined, left = Time{-1};
  int32_t assigned = 0, needed = 0;
  double gpus_held = 0;
  bool is_infeasible = false;

  static void columns(auto&& c) {
    c("deadlock", &DeadlockMemberRow::deadlock, "id in /events/deadlocks");
    c("job", &DeadlockMemberRow::job, "serial number of the job");
    c("gang", &DeadlockMemberRow::gang, "which gang of the job");
    c("joined", &DeadlockMemberRow::joined, "when the job became a member");
    c("left", &DeadlockMemberRow::left, "when it was one no more; -1: not in this run");
    c("assigned", &DeadlockMemberRow::assigned, "pods with a node, at most in that time", "pods");
    c("needed", &DeadlockMemberRow::needed, "pods the gang needs to start", "pods");
    c("gpus_held", &DeadlockMemberRow::gpus_held, "GPUs held, at most in that time", "GPU");
    c("is_infeasible", &DeadlockMemberRow::is_infeasible,
      "it would not fit even if all others let go");
  }
};

// Follows deadlocks from one look to the next. A group of stuck jobs continues the oldest deadlock
// that one of them was in; so a deadlock keeps its number while members join and leave.
class DeadlockLog {
 public:
  struct HoldingGang {
    int32_t assigned = 0, needed = 0;
    int64_t gpu_milli = 0;
  };
  struct StuckJob {
    uint64_t serial = 0;
    bool is_infeasible = false;
    std::vector<HoldingGang> gangs = {};
  };
  using Group = std::vector<StuckJob>;  // by serial
  struct LostPod {                      // by a job that was stuck, since the last look
    uint64_t serial = 0;
    bool was_deleted = false;  // else only its reservation was given up
  };
  struct Changes {
    std::vector<LostPod> lost_pods;
    bool is_capacity_changed = false;
  };

  explicit DeadlockLog(Sim sim);
  // The groups stuck from now on; `changes` say why others are stuck no more.
  void update(std::span<const Group> groups, const Changes& changes);
  void finish(Time end);

  uint32_t total() const { return next_id_; }
  size_t present() const { return deadlocks_.size(); }
  double gpu_s_lost(Time now) const;

 private:
  struct Member {
    StuckJob most;  // what it had at most
    Time joined;
  };
  struct Deadlock {
    DeadlockRow row;
    std::vector<Member> members;  // by serial
    int64_t gpu_milli = 0;        // held now
    int128_t lost = 0;            // milli-GPUs times nanoseconds
    Time since;                   // when `gpu_milli` began
    bool is_continued = false;
  };
  static bool shares_member(const Deadlock& deadlock, const Group& group);
  void advance(Time now);
  void continue_with(Deadlock& deadlock, const Group& group);
  DeadlockEnd why_ended(const Deadlock& deadlock, std::span<const Group> groups,
                        const Changes& changes) const;
  void write_member(const Deadlock& deadlock, const Member& member, Time left);
  void write(const Deadlock& deadlock, Time resolved_at, DeadlockEnd why);

  Sim sim_;
  std::vector<Deadlock> deadlocks_;  // present ones, by id
  uint32_t next_id_ = 0;
  double gpu_s_lost_ended_ = 0;
  Channel<DeadlockRow> rows_;
  Channel<DeadlockMemberRow> member_rows_;
};

}  // namespace orrery

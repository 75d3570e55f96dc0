// models/scheduling/feasibility/deadlock_rows.hpp -- rows of /events/deadlocks and
// /events/deadlock_members.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class DeadlockEnd : uint8_t {
  Unresolved,       // the deadlock exists at the end of the run
  Timeout,          // pods of members timed out or were rejected in Permit
  PodsDeleted,      // pods of members were deleted or preempted, or their node failed
  CapacityAdded,    // taints, cordons or the state of nodes changed
  MemberCompleted,  // a member placed enough pods to start
  Merged,           // the members are now in an older deadlock
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
    c("onset", &DeadlockRow::onset,
      "when the deadlock began; from then on, no member could place enough pods to start");
    c("resolved_at", &DeadlockRow::resolved_at, "when the deadlock ended; -1: not in this run");
    c("resolution", &DeadlockRow::resolution,
      "why the deadlock ended; timeout: pods timed out or were rejected in Permit; pods_deleted: "
      "pods were deleted or preempted, or their node failed; merged: the members are now in an "
      "older deadlock");
    c("members", &DeadlockRow::members, "maximum number of jobs in the deadlock at one time",
      "jobs");
    c("gpus_held", &DeadlockRow::gpus_held,
      "maximum number of GPUs that the members held at one time", "GPU");
    c("gpu_s_lost", &DeadlockRow::gpu_s_lost, "GPU time that the members held during the deadlock",
      "GPU s");
  }
};

struct DeadlockMemberRow {  // a row for each gang of a member job
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
    c("gang", &DeadlockMemberRow::gang, "number of the gang in the job");
    c("joined", &DeadlockMemberRow::joined, "when the job became a member");
    c("left", &DeadlockMemberRow::left, "when the job left the deadlock; -1: not in this run");
    c("assigned", &DeadlockMemberRow::assigned,
      "maximum number of pods of the gang that had a node at one time while the job was a member",
      "pods");
    c("needed", &DeadlockMemberRow::needed, "number of pods that the gang needs before it starts",
      "pods");
    c("gpus_held", &DeadlockMemberRow::gpus_held,
      "maximum number of GPUs that the gang held at one time while the job was a member", "GPU");
    c("is_infeasible", &DeadlockMemberRow::is_infeasible,
      "whether the job's unplaced pods would not fit even if no other job ran");
  }
};

}  // namespace orrery

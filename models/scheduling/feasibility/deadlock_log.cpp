#include "models/scheduling/feasibility/deadlock_log.hpp"

#include <algorithm>

#include "models/hardware/resources.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

double gpu_seconds(int128_t milli_ns) { return static_cast<double>(milli_ns) * 1e-12; }
double gpus(int64_t milli) { return static_cast<double>(milli) / kMilli; }

}  // namespace

DeadlockLog::DeadlockLog(Sim sim)
    : sim_{sim},
      rows_{sim.recorder, "/events/deadlocks",
            "Deadlocks of gangs, written when the deadlock or the run ends."},
      member_rows_{sim.recorder, "/events/deadlock_members",
                   "One row for each gang of a job in a deadlock, written when the job leaves "
                   "the deadlock or when the run ends."} {}

bool DeadlockLog::shares_member(const Deadlock& deadlock, const StuckGroup& group) {
  return std::ranges::any_of(deadlock.members, [&](const Member& member) {
    return std::ranges::binary_search(group, member.most.serial, {}, &StuckJob::serial);
  });
}

void DeadlockLog::advance(Time now) {
  for (Deadlock& deadlock : deadlocks_) {
    deadlock.lost += static_cast<int128_t>(deadlock.gpu_milli) * (now - deadlock.since).ns;
    deadlock.since = now;
  }
}

void DeadlockLog::update(std::span<const StuckGroup> groups, const StuckChanges& changes) {
  const Time now = sim_.engine.now();
  advance(now);
  for (Deadlock& deadlock : deadlocks_) deadlock.is_continued = false;
  for (const StuckGroup& group : groups) {
    auto same = std::ranges::find_if(deadlocks_, [&](const Deadlock& deadlock) {
      return !deadlock.is_continued && shares_member(deadlock, group);
    });
    if (same == deadlocks_.end()) {
      Deadlock begun;
      begun.row.id = next_id_++;
      begun.row.onset = begun.since = now;
      same = deadlocks_.insert(same, std::move(begun));
    }
    same->is_continued = true;
    continue_with(*same, group);
  }
  for (const Deadlock& deadlock : deadlocks_) {
    if (!deadlock.is_continued) write(deadlock, now, why_ended(deadlock, groups, changes));
  }
  std::erase_if(deadlocks_, [](const Deadlock& deadlock) { return !deadlock.is_continued; });
}

// The old members and the group are both sorted by serial, so one pass compares them.
void DeadlockLog::continue_with(Deadlock& deadlock, const StuckGroup& group) {
  const Time now = sim_.engine.now();
  std::vector<Member> members;
  members.reserve(group.size());
  auto old = deadlock.members.begin();
  int64_t gpu_milli = 0;
  for (const StuckJob& job : group) {
    for (; old != deadlock.members.end() && old->most.serial < job.serial; ++old) {
      write_member(deadlock, *old, now);
    }
    const bool is_old = old != deadlock.members.end() && old->most.serial == job.serial;
    if (!is_old) ++changes_;
    members.push_back(is_old ? std::move(*old++) : Member{.most = job, .joined = now});
    StuckJob& most = members.back().most;
    most.is_infeasible = job.is_infeasible;
    for (size_t g = 0; g < job.gangs.size(); ++g) {
      most.gangs[g].assigned = std::max(most.gangs[g].assigned, job.gangs[g].assigned);
      most.gangs[g].gpu_milli = std::max(most.gangs[g].gpu_milli, job.gangs[g].gpu_milli);
      gpu_milli += job.gangs[g].gpu_milli;
    }
  }
  for (; old != deadlock.members.end(); ++old) write_member(deadlock, *old, now);
  deadlock.members = std::move(members);
  deadlock.gpu_milli = gpu_milli;
  deadlock.row.gpus_held = std::max(deadlock.row.gpus_held, gpus(gpu_milli));
  deadlock.row.members =
      std::max(deadlock.row.members, static_cast<uint32_t>(deadlock.members.size()));
}

DeadlockEnd DeadlockLog::why_ended(const Deadlock& deadlock, std::span<const StuckGroup> groups,
                                   const StuckChanges& changes) const {
  for (const StuckGroup& group : groups) {
    if (!shares_member(deadlock, group)) continue;
    ORRERY_MARK("deadlocks.merged");
    return DeadlockEnd::Merged;
  }
  const auto has_lost = [&](bool was_deleted) {
    return std::ranges::any_of(changes.lost_pods, [&](const StuckPodLost& pod) {
      return pod.was_deleted == was_deleted &&
             std::ranges::any_of(deadlock.members, [&](const Member& member) {
               return member.most.serial == pod.serial;
             });
    });
  };
  if (has_lost(true)) return DeadlockEnd::PodsDeleted;
  if (has_lost(false)) return DeadlockEnd::Timeout;
  return changes.is_capacity_changed ? DeadlockEnd::CapacityAdded : DeadlockEnd::MemberCompleted;
}

void DeadlockLog::write_member(const Deadlock& deadlock, const Member& member, Time left) {
  ++changes_;
  for (size_t g = 0; g < member.most.gangs.size(); ++g) {
    const StuckGang& gang = member.most.gangs[g];
    member_rows_.emit({.deadlock = deadlock.row.id,
                       .job = member.most.serial,
                       .gang = static_cast<int32_t>(g),
                       .joined = member.joined,
                       .left = left,
                       .assigned = gang.assigned,
                       .needed = gang.needed,
                       .gpus_held = gpus(gang.gpu_milli),
                       .is_infeasible = member.most.is_infeasible});
  }
}

void DeadlockLog::write(const Deadlock& deadlock, Time resolved_at, DeadlockEnd why) {
  DeadlockRow row = deadlock.row;
  row.resolved_at = resolved_at;
  row.resolution = why;
  row.gpu_s_lost = gpu_seconds(deadlock.lost);
  gpu_s_lost_ended_ += row.gpu_s_lost;
  rows_.emit(row);
  for (const Member& member : deadlock.members) write_member(deadlock, member, resolved_at);
}

double DeadlockLog::gpu_s_lost(Time now) const {
  double sum = gpu_s_lost_ended_;
  for (const Deadlock& d : deadlocks_) {
    sum += gpu_seconds(d.lost + static_cast<int128_t>(d.gpu_milli) * (now - d.since).ns);
  }
  return sum;
}

void DeadlockLog::finish(Time end) {
  advance(end);
  for (const Deadlock& deadlock : deadlocks_) {
    write(deadlock, Time{-1}, DeadlockEnd::Unresolved);
  }
  deadlocks_.clear();
}

}  // namespace orrery

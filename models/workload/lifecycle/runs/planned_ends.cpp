#include "models/workload/lifecycle/runs/planned_ends.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr Duration kShortest = 1_ms;  // duration of a process that ends at once

void take_sooner(std::optional<RunStop>& first, const std::optional<RunStop>& other) {
  if (other && (!first || other->ending.after < first->ending.after)) first = other;
}

// Seed of one start of a role or a pod; two starts share a seed only by chance.
uint64_t number_of(uint64_t serial, uint32_t start, uint32_t index) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15U;
  return (serial * kOdd + start) * kOdd + index;
}

std::optional<RunStop> recorded(const JobSpec& spec) {
  if (!spec.ending) return {};
  return RunStop{.ending = *spec.ending, .pod = {}, .is_final = true};
}

}  // namespace

std::optional<RunStop> PlannedEnds::draw(const RoleSpec& role, Rng rng, Duration done,
                                         PodId pod) const {
  std::optional<RunStop> first;
  for (const DrawnEndingParams& way : role.endings) {
    if (!rng.chance(way.chance)) continue;
    take_sooner(
        first, RunStop{.ending = {.after = done + std::max(orrery::draw(way.after, rng), kShortest),
                                  .exit_code = way.exit_code,
                                  .cause = way.cause},
                       .pod = pod});
  }
  return first;
}

std::optional<RunStop> PlannedEnds::of(JobId id, uint32_t start, Duration done,
                                       Duration work) const {
  const Job& job = jobs_.job(id);
  std::optional<RunStop> first = recorded(job.spec);
  if (first && work != job.spec.work) {
    Duration& after = first->ending.after;
    after = {static_cast<int64_t>(int128_t{after.ns} * work.ns / job.spec.work.ns)};
  }
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    const RoleId role{job.first_role.index + r};
    const RoleSpec& spec = jobs_.role_spec(role);
    if (spec.endings.empty() || !spec.takes_part) continue;
    Rng rng = rng_.stream("workload.endings.gang", number_of(job.serial, start, r));
    take_sooner(first, draw(spec, rng, done, jobs_.role(role).first));
  }
  return first;
}

std::optional<RunStop> PlannedEnds::of(PodId id, uint32_t start, Duration done) const {
  std::optional<RunStop> first = recorded(jobs_.job(jobs_.pod(id).job).spec);
  take_sooner(first, drawn(id, start, done));
  return first;
}

std::optional<RunStop> PlannedEnds::drawn(PodId id, uint32_t start, Duration done) const {
  const Pod& pod = jobs_.pod(id);
  const RoleSpec& role = jobs_.role_spec(id);
  if (role.endings.empty()) return {};
  const uint64_t serial = jobs_.job(pod.job).serial;
  const auto rank = static_cast<uint32_t>(pod.rank);
  return draw(role, rng_.stream("workload.endings.pod", number_of(serial, start, rank)), done, id);
}

}  // namespace orrery

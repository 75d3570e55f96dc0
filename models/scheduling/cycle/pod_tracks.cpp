#include "models/scheduling/cycle/pod_tracks.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

PodTrack& PodTracks::of(PodId pod) {
  if (pod.index >= pods_.size()) {
    ORRERY_CHECK(pod.index < jobs_.pods_bound(), "there is such a pod");
    pods_.resize(jobs_.pods_bound());
  }
  return pods_[pod.index];
}

GangTrack& PodTracks::of(GangId gang) {
  if (gang.index >= gangs_.size()) {
    ORRERY_CHECK(gang.index < jobs_.gangs_bound(), "there is such a gang");
    gangs_.resize(jobs_.gangs_bound());
  }
  return gangs_[gang.index];
}

void PodTracks::created(PodId pod) {
  const GangId gang = jobs_.pod(pod).gang;
  if (gang.is_valid() && of(gang).pending++ == 0) ++pending_gangs_;
  ++pending_pods_;
  PodTrack& track = of(pod);
  track = {};
  track.stage = PodStage::Queued;
}

void PodTracks::no_longer_pending(PodId pod) {
  --pending_pods_;
  const GangId gang = jobs_.pod(pod).gang;
  if (gang.is_valid() && --of(gang).pending == 0) --pending_gangs_;
}

PodView PodTracks::pod(PodId id) const {
  ORRERY_CHECK(id.index < jobs_.pods_bound(), "there is such a pod");
  const Pod& p = jobs_.pod(id);
  const Job& job = jobs_.job(p.job);
  return {.id = id,
          .job_uid = job.serial,
          .spec_id = p.spec,
          .spec = &jobs_.specs()[p.spec],
          .job = p.job,
          .gang = p.gang,
          .role = jobs_.role(p.role).min_available > 0 ? p.role : RoleId{},
          .rank = p.rank,
          .attempts = p.attempts,
          .created = p.created,
          .team = job.spec.team,
          .nodes = job.nodes ? &*job.nodes : nullptr};
}

GangView PodTracks::gang(GangId id) const {
  if (!id.is_valid()) return {};
  ORRERY_CHECK(id.index < jobs_.gangs_bound(), "there is such a gang");
  const Gang& g = jobs_.gang(id);
  const Job& job = jobs_.job(g.job);
  GangView view{.id = id,
                .job = g.job,
                .job_uid = job.serial,
                .first = g.first,
                .first_of_job = job.first_gang,
                .gangs_of_job = job.gangs,
                .min_available = g.min_available,
                .pods = g.pods,
                .created = g.created,
                .gated = 0,
                .waiting = 0,
                .bound = g.bound,
                .binding = 0,
                .priority = job.priority,
                .created_at = g.created_at,
                .schedule_timeout = g.schedule_timeout,
                .last_failure = Time{-1},
                .backoff_until = {},
                .min_resources = g.min_resources ? &*g.min_resources : nullptr,
                .name = job.spec.name,
                .roles_missing = g.has_role_minimums ? roles_missing(g) : RolesMissing{}};
  if (id.index >= gangs_.size()) return view;
  const GangTrack& t = gangs_[id.index];
  view.gated = t.gated;
  view.waiting = static_cast<int32_t>(t.waiting.size()) + t.tentative;
  view.binding = t.assumed - static_cast<int32_t>(t.waiting.size());
  if (permitting == id) --(t.tentative > 0 ? view.waiting : view.binding);
  view.bound += view.binding;
  view.last_failure = t.last_failure;
  view.backoff_until = t.backoff_until;
  return view;
}

RolesMissing PodTracks::roles_missing(const Gang& gang) const {
  const auto created = [this](RoleId role) { return jobs_.role(role).created; };
  const auto assigned = [this](RoleId role) { return placements_.of_role(role); };
  const auto unbound = [&](RoleId role) { return assigned(role) - jobs_.role(role).bound; };
  return {.created = jobs_.role_pods_missing(gang, created),
          .assigned = jobs_.role_pods_missing(gang, assigned),
          .unbound = jobs_.role_pods_missing(gang, unbound)};
}

int32_t PodTracks::missing(RoleId role) const {
  return std::max(jobs_.role(role).min_available - placements_.of_role(role), 0);
}

std::span<const PodId> PodTracks::waiting(GangId gang) const {
  if (gang.index >= gangs_.size()) return {};
  return gangs_[gang.index].waiting;
}

}  // namespace orrery

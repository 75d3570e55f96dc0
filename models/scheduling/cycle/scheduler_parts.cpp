#include "models/scheduling/cycle/scheduler_parts.hpp"

namespace orrery {

SchedulerParts::SchedulerParts(Sim sim, ClusterState& cluster, JobTable& jobs,
                               JobController& controller, const ProfileParams& params,
                               bool record_attempts, const Fragmentation* fragmentation,
                               SchedulerNews& news)
    : placements{cluster, jobs.specs()},
      tracks{jobs, placements},
      transaction{cluster, placements, jobs.specs()},
      evictions{sim, jobs, controller, placements},
      preemptions{{.cluster = cluster,
                   .transaction = transaction,
                   .placements = placements,
                   .jobs = jobs,
                   .tracks = tracks,
                   .profile = profile,
                   .evictions = evictions}},
      line{sim.engine, jobs, tracks, profile, params.queue},
      log{sim, jobs, profile, preemptions.nominations(), record_attempts},
      reservations{{.sim = sim,
                    .jobs = jobs,
                    .tracks = tracks,
                    .transaction = transaction,
                    .placements = placements,
                    .profile = profile,
                    .line = line,
                    .preemptions = preemptions,
                    .evictions = evictions,
                    .log = log,
                    .news = news}},
      binder{{.sim = sim,
              .jobs = jobs,
              .controller = controller,
              .tracks = tracks,
              .placements = placements,
              .profile = profile,
              .reservations = reservations}},
      failures{{.tracks = tracks,
                .jobs = jobs,
                .profile = profile,
                .line = line,
                .preemptions = preemptions,
                .evictions = evictions,
                .log = log,
                .news = news}},
      services{{.sim = sim,
                .cluster = cluster,
                .jobs = jobs,
                .tracks = tracks,
                .placements = placements,
                .profile = profile,
                .line = line,
                .preemptions = preemptions,
                .evictions = evictions,
                .reservations = reservations,
                .fragmentation = fragmentation}} {
  profile.use(params, services, preemptions.nominations());
  reservations.permitted.connect([this](PodId pod) { binder.add(pod); });
  evictions.victim_waits.connect([this](PodId victim) {
    reservations.reject(victim, "preempted by a pod of higher priority", AttemptOutcome::Rejected);
  });
  evictions.refused.connect(
      [this](PodId victim, PodId preemptor) { preemptions.stays(victim, preemptor); });
}

void SchedulerParts::use(PodApi& api) {
  evictions.use(api);
  preemptions.use(api);
  reservations.use(api);
  binder.use(api);
  failures.use(api);
}

}  // namespace orrery

#include "models/scheduling/cycle/scheduler_parts.hpp"

namespace orrery {

SchedulerParts::SchedulerParts(Sim sim, ClusterState& cluster, JobTable& jobs,
                               JobController& controller, const ProfileParams& params,
                               bool record_attempts, const Fragmentation* fragmentation)
    : context{.sim = sim,
              .cluster = cluster,
              .jobs = jobs,
              .controller = controller,
              .news = controller,
              .tracks = tracks,
              .placements = placements,
              .transaction = transaction,
              .profile = profile,
              .evictions = evictions,
              .preemptions = preemptions,
              .line = line,
              .log = log,
              .reservations = reservations,
              .binder = binder,
              .failures = failures},
      placements{cluster, jobs.specs()},
      tracks{jobs, placements},
      transaction{cluster, placements, jobs.specs()},
      evictions{sim, jobs, controller, placements},
      preemptions{context},
      line{sim.engine, jobs, tracks, profile, params.queue},
      log{sim, jobs, profile, preemptions.nominations(), record_attempts},
      reservations{context},
      binder{context},
      failures{context},
      services{context, fragmentation} {
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

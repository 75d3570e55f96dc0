#include "models/workload/lifecycle/pods/pod_starts.hpp"

#include <cmath>
#include <utility>

namespace orrery {

PodStarts::PodStarts(Sim sim, JobTable& jobs, const StartLatencyParams& params)
    : engine_{sim.engine}, rng_{sim.rng}, jobs_{jobs}, params_{params} {}

void PodStarts::admitted(JobId id) {
  if (id.index >= of_job_.size()) of_job_.resize(jobs_.jobs_bound());
  if (jobs_.gangs_bound() > of_gang_.size()) of_gang_.resize(jobs_.gangs_bound());
  of_job_[id] = 0;
  const Job& job = jobs_.job(id);
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    of_gang_[{job.first_gang.index + g}] = 0;
  }
}

void PodStarts::begin(PodId pod) {
  jobs_.pod(pod).started = Time::max();
  go_on(pod, 0, {});
}

void PodStarts::go_on(PodId id, size_t stage, Duration until) {
  while (stage < hooks_.size() && !hooks_[stage]) ++stage;
  Pod& pod = jobs_.pod(id);
  if (stage == hooks_.size()) {
    pod.started = engine_.now() + until + latency(id);
    return start_known.emit(id);
  }
  hooks_[stage](id, until, [this, id, stage, generation = pod.generation](Duration left) {
    // The pod may be gone by now.
    const Pod& now = jobs_.pod(id);
    if (now.generation != generation || now.state != PodState::Bound) return;
    go_on(id, stage + 1, left);
  });
}

// The number of this start, which selects the random stream of its latency. The number of
// the k-th pod start in a gang does not depend on pod starts in other gangs. Example: a job has
// gangs of 4 and 8 pods. The first starts of their pods have the numbers 0 to 3 and 4 to 11. The
// second starts have the numbers 12 to 15 and 16 to 23.
uint32_t PodStarts::number_of_start(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (!pod.gang.is_valid()) return of_job_[pod.job]++;
  const Gang& gang = jobs_.gang(pod.gang);
  const Job& job = jobs_.job(pod.job);
  const uint32_t started = of_gang_[pod.gang]++, members = static_cast<uint32_t>(gang.pods);
  return gang.first.index - job.first_pod.index + started % members +
         started / members * static_cast<uint32_t>(job.pods);
}

Duration PodStarts::latency(PodId id) {
  if (params_.sigma == 0) return params_.median;
  Rng rng = rng_.stream("workload.pod_start",
                        jobs_.job(jobs_.pod(id).job).serial << 32U | number_of_start(id));
  return nearest_ns(rng.lognormal(std::log(params_.median.seconds()), params_.sigma));
}

}  // namespace orrery

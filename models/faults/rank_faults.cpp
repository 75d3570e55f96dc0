#include "models/faults/rank_faults.hpp"

#include <algorithm>
#include <utility>

#include "models/hardware/resources.hpp"

namespace orrery {

RankFaults::RankFaults(Sim sim, JobController& controller, const JobTable& jobs,
                       std::vector<RankFaultParams> params)
    : sim_{sim}, controller_{controller}, jobs_{jobs}, params_{std::move(params)} {}

void RankFaults::start() {
  for (size_t i = 0; i < params_.size(); ++i) {
    sim_.engine.at(
        Time{} + params_[i].at, Label{"faults.rank_died"}, [this, i] { strike(i); }, Phase::Fault);
  }
}

void RankFaults::strike(size_t index) {
  const RankFaultParams& params = params_[index];
  JobId victim;
  jobs_.for_each_job([&](JobId id) {
    const Job& job = jobs_.job(id);
    const bool is_it = job.spec.name == params.job && job.phase == JobPhase::Running;
    if (is_it && params.pod < job.pods && !victim.is_valid()) victim = id;
  });
  if (victim.is_valid()) {
    const PodId pod{jobs_.job(victim).first_pod.index + static_cast<uint32_t>(params.pod)};
    if (controller_.rank_died(pod, params.gpus * kMilli)) {
      ++struck_;
      return;
    }
  }
  notes_.push_back("faults.ranks[" + std::to_string(index) + "]: no gang called '" + params.job +
                   "' with such a pod ran at that time, so nothing died");
}

}  // namespace orrery

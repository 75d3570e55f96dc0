#include "models/workload/lifecycle/cancellations.hpp"

#include "sim/core/check.hpp"

namespace orrery {

void Cancellations::admitted(JobId id) {
  if (id.index >= events_.size()) events_.resize(jobs_.jobs_bound());
  events_[id] = {};
  const std::optional<Duration> after = jobs_.job(id).spec.cancel_after;
  if (!after) return;
  events_[id] = engine_.after(*after, Label{"jobs.cancelled"}, [this, id] {
    if (cancel(id)) ORRERY_MARK("jobs.cancelled_while_waiting");
  });
}

bool Cancellations::cancel(JobId id) {
  if (has_started(id)) return false;
  over.emit(id, JobOver::failed(EndCause::Cancelled));
  return true;
}

bool Cancellations::is_ahead(JobId id) const {
  return engine_.is_pending(events_[id]) && !has_started(id);
}

void Cancellations::end(JobId id) { engine_.cancel(events_[id]); }

}  // namespace orrery

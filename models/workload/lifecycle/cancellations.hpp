// models/workload/lifecycle/cancellations.hpp -- users who cancel jobs that have not started.
#pragma once

#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/state/job_accounts.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// A user cancels a job once `cancel_after` has passed since its submission, unless the job has
// started. A job has started once enough of its pods have been bound (JobAccount::first_bound). The
// cancellation's event is scheduled before any pod exists, so it precedes a start at the same
// instant.
class Cancellations {
 public:
  Cancellations(Engine& engine, const JobTable& jobs, const JobAccounts& accounts)
      : engine_{engine}, jobs_{jobs}, accounts_{accounts} {}

  void admitted(JobId job);
  bool cancel(JobId job);  // cancels at once; returns false if the job has started
  // True if the job has not started, and has a `cancel_after` that has not passed yet.
  bool is_ahead(JobId job) const;
  void end(JobId job);  // call when the job is over

  Signal<JobId, const JobOver&> over;

 private:
  bool has_started(JobId job) const { return accounts_.of(job).first_bound.has_value(); }

  Engine& engine_;
  const JobTable& jobs_;
  const JobAccounts& accounts_;
  IdVector<JobId, EventId> events_;
};

}  // namespace orrery

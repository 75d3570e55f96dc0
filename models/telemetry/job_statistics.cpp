#include "models/telemetry/job_statistics.hpp"

namespace orrery {

void JobStatistics::connect(JobNews& jobs) {
  jobs.job_arrived.connect(*this, &JobStatistics::job_arrived);
  jobs.phase_changed.connect(
      [this](JobId job, JobPhase, JobPhase after) { phase_changed(job, after); });
}

void JobStatistics::job_arrived(JobId job) {
  if (job.index >= has_run_.size()) has_run_.resize(jobs_.jobs_bound());
  has_run_[job.index] = false;
}

void JobStatistics::phase_changed(JobId job, JobPhase after) {
  const double since = (sim_.engine.now() - jobs_.job(job).spec.submitted).seconds();
  if (after == JobPhase::Running && !has_run_[job.index]) {
    has_run_[job.index] = true;
    waits_.add(since);
  } else if (after == JobPhase::Completed || (is_over(after) && jobs_.job(job).spec.ending)) {
    completions_.add(since);
  }
}

void JobStatistics::add_summary(Recorder& recorder) {
  recorder.add_summary("wait_mean", waits_.mean(), "s",
                       "mean time from submission until a job first runs, of jobs that ran");
  recorder.add_summary("wait_p50", waits_.quantile(50), "s", "its median");
  recorder.add_summary("wait_p99", waits_.quantile(99), "s", "its 99th percentile");
  recorder.add_summary(
      "jct_mean", completions_.mean(), "s",
      "mean time from submission until completion, or until the end that a trace recorded");
  recorder.add_summary("jct_p50", completions_.quantile(50), "s", "its median");
  recorder.add_summary("jct_p99", completions_.quantile(99), "s", "its 99th percentile");
}

}  // namespace orrery

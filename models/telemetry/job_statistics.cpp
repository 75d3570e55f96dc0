#include "models/telemetry/job_statistics.hpp"

namespace orrery {

JobStatistics::JobStatistics(Sim sim, const JobTable& jobs)
    : sim_{sim},
      jobs_{jobs},
      rows_{sim.recorder, "/priorities",
            "Priorities of jobs, from low to high: waits, completion times, and compute lost to "
            "preemption."} {}

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
    all_.waits.add(since);
    by_priority_[jobs_.job(job).priority].waits.add(since);
  } else if (after == JobPhase::Completed || (is_over(after) && jobs_.job(job).spec.ending)) {
    all_.completions.add(since);
    by_priority_[jobs_.job(job).priority].completions.add(since);
  }
}

void JobStatistics::write_priorities(const JobController& jobs) {
  for (const auto& [priority, account] : jobs.priorities()) {
    Spans& spans = by_priority_[priority];
    rows_.emit({.priority = priority,
                .jobs = account.jobs,
                .jobs_ran = spans.waits.count(),
                .jobs_completed = spans.completions.count(),
                .jobs_preempted = account.jobs_preempted,
                .wait_mean = spans.waits.mean(),
                .wait_p50 = spans.waits.quantile(50),
                .jct_mean = spans.completions.mean(),
                .jct_p50 = spans.completions.quantile(50),
                .pods_preempted = account.pods_preempted,
                .pods_preempted_by = account.pods_preempted_by,
                .gpu_s_lost_preempted = GpuTime::seconds(account.gpu_lost_preempted),
                .gpu_s_lost = GpuTime::seconds(account.gpu_time.lost),
                .gpu_s_useful = GpuTime::seconds(account.gpu_time.useful)});
  }
}

void JobStatistics::add_summary(Recorder& recorder) {
  recorder.add_summary("wait_mean", all_.waits.mean(), "s",
                       "mean time from submission until a job first runs, of jobs that ran");
  recorder.add_summary("wait_p50", all_.waits.quantile(50), "s",
                       "median time from submission until a job first runs, of jobs that ran");
  recorder.add_summary("wait_p99", all_.waits.quantile(99), "s",
                       "99th percentile of the time from submission until a job first runs, of "
                       "jobs that ran");
  recorder.add_summary(
      "jct_mean", all_.completions.mean(), "s",
      "mean time from submission until the end, over completed jobs, and over failed or cancelled "
      "jobs for which a trace or generator gives the compute time until failure or cancellation");
  recorder.add_summary("jct_p50", all_.completions.quantile(50), "s",
                       "median time from submission until the end, over the same jobs as jct_mean");
  recorder.add_summary("jct_p99", all_.completions.quantile(99), "s",
                       "99th percentile of the time from submission until the end, over the same "
                       "jobs as jct_mean");
}

}  // namespace orrery

#include "models/workload/sources/explicit_jobs.hpp"

#include <algorithm>
#include <queue>

namespace orrery {
namespace {

JobSpec request_of(const ExplicitJobParams& params, const TrainingParams& training) {
  JobSpec job;
  job.name = params.name;
  job.user = params.user;
  job.team = params.team;
  job.application = params.application;
  job.kind = params.kind;
  job.controller = params.controller;
  job.work = params.work;
  job.requested = params.requested.value_or(kNotRequested);
  if (params.gangs.empty()) {
    job.gangs.push_back({.roles = {{params.pod.spec(params.priority), params.pods}},
                         .min_available = params.min_available});
  }
  for (const ExplicitGangParams& gang : params.gangs) {
    GangSpec& made = job.gangs.emplace_back();
    made.min_available = gang.min_available;
    for (const ExplicitRoleParams& role : gang.roles) {
      made.roles.push_back({role.pod.spec(params.priority), role.pods});
    }
  }
  params.training.value_or(training).apply(job);
  return job;
}

// One entry of the list yields its jobs one by one; a heap keeps the entries in order of their
// next submission, so that `count: 10000000` costs no memory.
class ExplicitJobs final : public JobSource {
 public:
  ExplicitJobs(const ExplicitJobsParams& params, const TrainingParams& training) {
    int64_t first_id = 0;
    for (const ExplicitJobParams& entry : params.jobs) {
      next_.push({Time{} + entry.submit, entries_.size()});
      entries_.push_back(
          {request_of(entry, training), entry.every, first_id, entry.count, entry.name.empty()});
      first_id += entry.count;
    }
    prepare();
  }
  const JobSpec* peek() override {
    return next_.empty() ? nullptr : &entries_[next_.top().entry].request;
  }
  void pop() override {
    const Next done = next_.top();
    next_.pop();
    Entry& entry = entries_[done.entry];
    ++entry.next_id;
    if (--entry.left > 0) next_.push({done.when + entry.every, done.entry});
    prepare();
  }

 private:
  struct Entry {
    JobSpec request;
    Duration every;
    int64_t next_id = 0;
    int32_t left = 0;
    bool is_unnamed = false;
  };
  struct Next {
    Time when;
    size_t entry = 0;
    // A priority_queue gives its greatest first.
    bool operator<(const Next& other) const {
      return when != other.when ? when > other.when : entry > other.entry;
    }
  };
  void prepare() {
    if (next_.empty()) return;
    Entry& entry = entries_[next_.top().entry];
    JobSpec& job = entry.request;
    job.submitted = next_.top().when;
    job.external_id = entry.next_id;
    if (entry.is_unnamed) job.name = "job-" + std::to_string(entry.next_id);
  }

  std::vector<Entry> entries_;
  std::priority_queue<Next> next_;
};

}  // namespace

std::unique_ptr<JobSource> make_explicit_jobs(const ExplicitJobsParams& params,
                                              const TrainingParams& training) {
  return std::make_unique<ExplicitJobs>(params, training);
}

}  // namespace orrery

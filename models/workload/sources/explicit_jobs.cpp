#include "models/workload/sources/explicit_jobs.hpp"

#include <algorithm>
#include <queue>
#include <string>

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
  job.cancel_after = params.cancel_after;
  if (params.gangs.empty()) {
    job.gangs.push_back({.roles = {{params.pod.spec(params.priority), params.pods}},
                         .min_available = params.min_available});
  }
  for (const ExplicitGangParams& gang : params.gangs) {
    GangSpec& made = job.gangs.emplace_back();
    made.min_available = gang.min_available;
    for (const ExplicitRoleParams& role : gang.roles) {
      made.roles.push_back(role.spec(params.priority));
    }
  }
  const TrainingParams& trains = params.training ? *params.training : training;
  trains.apply(job);
  for (size_t g = 0; g < params.gangs.size(); ++g) {
    for (size_t r = 0; r < params.gangs[g].roles.size(); ++r) {
      params.gangs[g].roles[r].override_ends(job.gangs[g].roles[r]);
    }
  }
  return job;
}

// An entry of the list yields its jobs one by one, so `count: 10000000` needs no more memory than
// `count: 1`. A heap keeps the entries in order of their next submission.
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
    // A priority_queue returns its greatest element first, so the earliest entry must be the
    // greatest.
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

RoleSpec ExplicitRoleParams::spec(int32_t priority) const {
  return {.spec = pod.spec(priority),
          .pods = pods,
          .min_available = min_available,
          .name = name,
          .controller = controller,
          .takes_part = takes_part,
          .exits = exits,
          .success = success,
          .failure = failure,
          .saves = saves,
          .clean_up = clean_up};
}

void ExplicitRoleParams::override_ends(RoleSpec& role) const {
  if (restart) role.restart = *restart;
  if (backoff_limit) role.backoff_limit = *backoff_limit;
  if (endings) role.endings = *endings;
}

void ExplicitJobParams::check(Checker& c) const {
  const bool is_gang = kind == JobKind::MpiGang;
  int64_t pods_of_job = gangs.empty() ? pods : 0;
  bool takes_part = gangs.empty(), counts = gangs.empty(), saves = gangs.empty();
  for (size_t g = 0; g < gangs.size(); ++g) {
    if (is_gang) gangs[g].check_minimums(c, "gangs[" + std::to_string(g) + "].");
    for (size_t r = 0; r < gangs[g].roles.size(); ++r) {
      const ExplicitRoleParams& role = gangs[g].roles[r];
      const std::string at = "gangs[" + std::to_string(g) + "].roles[" + std::to_string(r) + "].";
      pods_of_job += role.pods;
      takes_part |= role.takes_part;
      saves |= role.takes_part && role.saves;
      counts |= role.success == RoleSuccess::Decides ||
                (role.success == RoleSuccess::Counts && role.exits);
      role.check_kind(c, at, is_gang);
    }
  }
  if (!gangs.empty()) {
    const PodParams none;
    if (pods != 1) c.error("pods", "has no effect beside gangs");
    if (min_available != 0) c.error("min_available", "has no effect beside gangs");
    if (pod.gpus != none.gpus) c.error("pod", "has no effect beside gangs");
    if (!is_gang && gangs.size() > 1) c.error("gangs", "kind: pods takes one entry");
    if (!is_gang && gangs[0].min_available != 0) {
      c.error("gangs[0].min_available", "has no effect on independent pods");
    }
    if (is_gang && !takes_part) c.error("gangs", "needs a role that takes part");
    if (is_gang && takes_part && !saves) c.error("gangs", "needs a role that saves");
    if (!is_gang && !counts) {
      c.error("gangs",
              "needs a role that exits and whose success counts or decides: else the "
              "job never ends");
    }
  }
  if (gangs.empty() && min_available > pods) {
    c.error("min_available", "must not be more than pods");
  }
  if (pods_of_job > kPodsAtOnceMax / (every == Duration{} ? count : 1)) {
    c.error("count", "at most 10000000 pods may be submitted at one instant");
  }
}

void ExplicitRoleParams::check_kind(Checker& c, const std::string& at, bool is_gang) const {
  if (!is_gang) {
    if (!exits && success == RoleSuccess::Decides) {
      c.error(at + "success", "cannot decide if exits is false, because the job would never end");
    }
    if (restart == RestartPolicy::Always && success != RoleSuccess::Ignored) {
      c.error(at + "success",
              "must be ignored if restart is always, because the pods never end for good");
    }
    return;
  }
  if (takes_part && clean_up == CleanUp::None) {
    c.error(at + "clean_up", "must be running: ranks exit with their gang");
  }
  if (takes_part && failure == RoleFailure::Ignored) {
    c.error(at + "failure", "a gang cannot go on without a rank");
  }
}

void ExplicitGangParams::check_minimums(Checker& c, const std::string& at) const {
  int64_t of_roles = 0;
  for (const ExplicitRoleParams& role : roles) of_roles += role.min_available;
  if (min_available == 0 || min_available >= of_roles) return;
  c.error(at + "min_available", "must not be less than the min_available of its roles together, " +
                                    std::to_string(of_roles));
}

std::unique_ptr<JobSource> make_explicit_jobs(const ExplicitJobsParams& params,
                                              const TrainingParams& training) {
  return std::make_unique<ExplicitJobs>(params, training);
}

}  // namespace orrery

// bench/support/jobs.hpp -- synthetic jobs, for scenarios and for loops without an engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery::bench {

// A kind of job. Jobs arrive in rounds, with `share` jobs of this kind in each round.
struct Kind {
  int64_t share = 1, pods = 1;
  int64_t gpus = 0;  // GPUs of a pod; 0: the pod has one core instead
  int64_t seconds = 0;
  int64_t cpu_milli = 0;  // CPU of a pod, beside its GPUs
  int64_t size() const { return pods * (gpus == 0 ? 1 : gpus); }
};

// The jobs of a benchmark. At 0 s, the jobs that run in a steady state under `load` are submitted,
// each with the rest of its run time. `waiting` further jobs are submitted at 0 s, too. From 1 s
// on, about `jobs` more jobs arrive, evenly spaced.
struct Work {
  std::span<const Kind> kinds;
  int64_t capacity = 0;  // cores, or GPUs
  double load = 1;       // demand of the arrivals, as a share of `capacity`
  int64_t waiting = 0;
  int64_t jobs = 0;
  int64_t users = 0;       // users submit jobs in turn; 0: no users
  bool are_teams = false;  // each user is a team
};

struct Batch {  // equal jobs
  Kind kind;
  int64_t run_us = 0, count = 0, submit_us = 0, every_us = 0;
  int64_t user = -1;
  bool has_team = false;  // the user's name is the team, too
};
std::vector<Batch> batches_of(const Work& work);
// The section `workload` of a scenario.
std::string workload_of(std::span<const Batch> batches);

struct BareJob {
  int64_t submit = 0, run = 0;  // in us
  int64_t pods = 1, gpus = 0;
};
std::vector<BareJob> bare_jobs(std::span<const Batch> batches);

// Runs the jobs in a pool without an engine, a cluster, checks or statistics: strictly first
// come, first served, with a heap of end times. Returns jobs per CPU second, the best of three
// repetitions.
double bare_pool(std::span<const BareJob> jobs, int64_t capacity);
// As bare_pool(), but on nodes, which are kept in sets by their number of idle GPUs. Of the
// nodes with enough idle GPUs, a pod gets the one with the fewest; of several such nodes, the
// first.
double bare_nodes(std::span<const BareJob> jobs, int64_t nodes, int64_t gpus_per_node);

}  // namespace orrery::bench

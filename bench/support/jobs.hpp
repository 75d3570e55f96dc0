// bench/support/jobs.hpp -- made-up jobs, as a scenario and for the bare loops beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery::bench {

// Of every round of arrivals, `share` jobs are of this kind.
struct Kind {
  int64_t share = 1, pods = 1;
  int64_t gpus = 0;  // of a pod; 0: a core
  int64_t seconds = 0;
  int64_t cpu_milli = 0;  // of a pod, beside its GPUs
  int64_t size() const { return pods * (gpus == 0 ? 1 : gpus); }
};

// What a machine is given to do: at first as many jobs as run at a time, with what would be left of
// their runs, and those that shall wait; from the first second on, `jobs` more, evenly spaced.
struct Work {
  std::span<const Kind> kinds;
  int64_t capacity = 0;  // cores, or GPUs
  double load = 1;       // of the arrivals
  int64_t waiting = 0;
  int64_t jobs = 0;
  int64_t users = 0;       // who take turns; 0: nobody is named
  bool are_teams = false;  // each a team of their own
};

struct Batch {  // alike jobs
  Kind kind;
  int64_t run_us = 0, count = 0, submit_us = 0, every_us = 0;
  int64_t user = -1;
  bool has_team = false;  // named as the user
};
std::vector<Batch> batches_of(const Work& work);
// The section `workload`.
std::string workload_of(std::span<const Batch> batches);

struct BareJob {
  int64_t submit = 0, run = 0;  // in us
  int64_t pods = 1, gpus = 0;
};
std::vector<BareJob> bare_jobs(std::span<const Batch> batches);

// The same jobs without an engine, a cluster, checks or figures. Both: strictly first come, first
// served, a heap of ends; jobs a CPU second, the best of three rounds.
double bare_pool(std::span<const BareJob> jobs, int64_t capacity);
// On nodes, which stand in sets by their idle GPUs: each pod goes to the first node among those
// that it fits most tightly.
double bare_nodes(std::span<const BareJob> jobs, int64_t nodes, int64_t gpus_per_node);

}  // namespace orrery::bench

#include "bench/support/jobs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

#include "bench/support/world.hpp"
#include "models/hardware/node_set.hpp"

namespace orrery::bench {
namespace {

// Jobs submitted at the start are divided into this many blocks. Within each kind, run times grow
// from block to block, so that not all jobs end at once.
constexpr int64_t kBlocks = 200;

int64_t part_of(int64_t count, int64_t block) {
  return count * (block + 1) / kBlocks - count * block / kBlocks;
}

}  // namespace

std::vector<Batch> batches_of(const Work& work) {
  double area = 0;
  int64_t round_jobs = 0;
  for (const Kind& kind : work.kinds) {
    area += static_cast<double>(kind.share * kind.size() * kind.seconds);
    round_jobs += kind.share;
  }
  const double round_s = area / (static_cast<double>(work.capacity) * work.load);
  const auto round_us = static_cast<int64_t>(std::ceil(round_s * 1e6));
  std::vector<Batch> batches;
  int64_t turn = 0;
  const auto add = [&](Batch batch) {
    if (batch.count == 0) return;
    if (work.users > 0 && batch.user < 0) batch.user = turn++ % work.users;
    batch.has_team = work.are_teams;
    batches.push_back(batch);
  };
  for (int64_t b = 0; b < kBlocks; ++b) {
    for (const Kind& kind : work.kinds) {
      const auto count = static_cast<double>(kind.share * kind.seconds) / round_s;
      add({.kind = kind,
           .run_us = kind.seconds * 1'000'000 * (b + 1) / kBlocks,
           .count = part_of(static_cast<int64_t>(count), b)});
    }
  }
  for (int64_t b = 0; b < kBlocks; ++b) {
    for (const Kind& kind : work.kinds) {
      add({.kind = kind,
           .run_us = kind.seconds * 1'000'000 + kind.seconds * 1'000 * b,
           .count = part_of(work.waiting * kind.share / round_jobs, b)});
    }
  }
  // With at most 20 users, each user has jobs of all kinds. With more users, each user has jobs of
  // one kind.
  const auto kinds = static_cast<int64_t>(work.kinds.size());
  const int64_t users = std::max<int64_t>(work.users, 1);
  const bool are_few = users <= 20;
  const int64_t rounds = std::max<int64_t>(work.jobs / round_jobs, 1);
  int64_t place = 0;
  for (int64_t k = 0; k < kinds; ++k) {
    const Kind& kind = work.kinds[static_cast<size_t>(k)];
    const int64_t takers = are_few ? users : users / kinds;
    for (int64_t share = 0; share < kind.share; ++share, ++place) {
      for (int64_t i = 0; i < takers; ++i) {
        add({.kind = kind,
             .run_us = kind.seconds * 1'000'000,
             .count = std::max<int64_t>(rounds / takers, 2),
             .submit_us = 1'000'000 + round_us * i + round_us * place / round_jobs,
             .every_us = round_us * takers,
             .user = work.users == 0 ? -1
                     : are_few       ? i
                                     : i * kinds + k});
      }
    }
  }
  return batches;
}

std::string workload_of(std::span<const Batch> batches) {
  std::string yaml = "workload:\n  sources:\n  - kind: jobs\n    jobs:\n";
  for (const Batch& batch : batches) {
    const Kind& kind = batch.kind;
    yaml += "    - {pods: " + std::to_string(kind.pods);
    yaml += kind.gpus == 0 ? ", pod: {cpus: 1}" : ", pod: {gpus: " + std::to_string(kind.gpus);
    if (kind.cpu_milli > 0) {
      const std::string milli = std::to_string(1'000 + kind.cpu_milli % 1'000);
      yaml += ", cpus: " + std::to_string(kind.cpu_milli / 1'000) + "." + milli.substr(1);
    }
    yaml += kind.gpus == 0 ? "" : "}";
    if (kind.pods == 1 && kind.gpus > 0) yaml += ", kind: pods";
    yaml += ", work: " + std::to_string(batch.run_us);
    yaml += "us, count: " + std::to_string(batch.count);
    if (batch.user >= 0) yaml += ", user: u" + std::to_string(batch.user);
    if (batch.has_team) yaml += ", team: u" + std::to_string(batch.user);
    if (batch.submit_us > 0) yaml += ", submit: " + std::to_string(batch.submit_us) + "us";
    if (batch.every_us > 0 && batch.count > 1)
      yaml += ", every: " + std::to_string(batch.every_us) + "us";
    yaml += "}\n";
  }
  return yaml;
}

std::vector<BareJob> bare_jobs(std::span<const Batch> batches) {
  std::vector<BareJob> jobs;
  for (const Batch& batch : batches) {
    for (int64_t i = 0; i < batch.count; ++i) {
      jobs.push_back({.submit = batch.submit_us + batch.every_us * i,
                      .run = batch.run_us,
                      .pods = batch.kind.pods,
                      .gpus = batch.kind.gpus});
    }
  }
  std::ranges::stable_sort(jobs, {}, &BareJob::submit);
  return jobs;
}

namespace {

// Runs jobs first come, first served. `take` takes a job's resources, or returns false if these are
// not free. `free` gives the resources back.
template <class Take, class Free>
void serve(std::span<const BareJob> jobs, Take&& take, Free&& free) {
  using End = std::pair<int64_t, size_t>;  // time of the end, and index of the job
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::deque<size_t> waiting;
  for (size_t next = 0; next < jobs.size() || !ends.empty();) {
    const bool is_end =
        !ends.empty() && (next == jobs.size() || ends.top().first <= jobs[next].submit);
    const int64_t now = is_end ? ends.top().first : jobs[next].submit;
    if (is_end) {
      free(ends.top().second);
      ends.pop();
    } else {
      waiting.push_back(next++);
    }
    while (!waiting.empty() && take(waiting.front())) {
      ends.push({now + jobs[waiting.front()].run, waiting.front()});
      waiting.pop_front();
    }
  }
}

template <class Round>
double best_rate(size_t jobs, Round&& round) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double began = cpu_seconds();
    round();
    least = std::min(least, cpu_seconds() - began);
  }
  return static_cast<double>(jobs) / least;
}

class BareNodes {
 public:
  BareNodes(int64_t nodes, int64_t gpus)
      : idle_(static_cast<size_t>(nodes), gpus),
        with_idle_(static_cast<size_t>(gpus) + 1, NodeSet{static_cast<size_t>(nodes)}) {
    with_idle_.back().fill();
  }
  // Returns the node that got the pod, or an invalid id if no node has enough idle GPUs.
  NodeId place(int64_t gpus) {
    for (auto k = static_cast<size_t>(gpus); k < with_idle_.size(); ++k) {
      const NodeId node = with_idle_[k].next({0});
      if (!node.is_valid()) continue;
      move(node, -gpus);
      return node;
    }
    return {};
  }
  void move(NodeId node, int64_t gpus) {
    int64_t& idle = idle_[node.index];
    with_idle_[static_cast<size_t>(idle)].erase(node);
    idle += gpus;
    with_idle_[static_cast<size_t>(idle)].insert(node);
  }

 private:
  std::vector<int64_t> idle_;
  std::vector<NodeSet> with_idle_;  // with_idle_[k]: nodes with exactly k idle GPUs
};

}  // namespace

double bare_pool(std::span<const BareJob> jobs, int64_t capacity) {
  return best_rate(jobs.size(), [&] {
    int64_t left = capacity;
    const auto take = [&](size_t job) {
      if (jobs[job].pods > left) return false;
      left -= jobs[job].pods;
      return true;
    };
    serve(jobs, take, [&](size_t job) { left += jobs[job].pods; });
  });
}

double bare_nodes(std::span<const BareJob> jobs, int64_t nodes, int64_t gpus_per_node) {
  return best_rate(jobs.size(), [&] {
    BareNodes machine{nodes, gpus_per_node};
    std::vector<std::vector<NodeId>> where(jobs.size());
    const auto give_back = [&](size_t job) {
      for (const NodeId node : where[job]) machine.move(node, jobs[job].gpus);
      where[job] = {};
    };
    const auto take = [&](size_t job) {
      for (int64_t pod = 0; pod < jobs[job].pods; ++pod) {
        const NodeId node = machine.place(jobs[job].gpus);
        if (!node.is_valid()) {
          give_back(job);
          return false;
        }
        where[job].push_back(node);
      }
      return true;
    };
    serve(jobs, take, give_back);
  });
}

}  // namespace orrery::bench

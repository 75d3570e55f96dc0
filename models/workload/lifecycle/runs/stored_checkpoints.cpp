#include "models/workload/lifecycle/runs/stored_checkpoints.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/training/checkpoint_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

Bytes share(Bytes all, int64_t parts) { return {(all.count + parts - 1) / parts}; }

}  // namespace

Duration StoredCheckpoints::copy_time(JobId id) const {
  const Job& job = jobs_.job(id);
  return share(job.spec.checkpoint->bytes, std::max(jobs_.taking_part(id).gpus, 1)) /
         job.spec.checkpoint->host_copy;
}

void StoredCheckpoints::write(JobId job, Callback done) {
  start(job, Direction::Write, std::move(done));
}

void StoredCheckpoints::read(JobId job, Callback done) {
  start(job, Direction::Read, std::move(done));
}

std::vector<NodeId> StoredCheckpoints::nodes(JobId id, Direction direction) const {
  const Job& job = jobs_.job(id);
  std::vector<NodeId> nodes, of_others;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    const Pod& p = jobs_.pod(pod);
    if (!p.node.is_valid() || !p.takes_part) return;
    const bool may = direction == Direction::Read || jobs_.role_spec(pod).saves;
    (may ? nodes : of_others).push_back(p.node);
  });
  if (nodes.empty()) nodes.swap(of_others);  // no pod that takes part has a role that saves
  ORRERY_CHECK(!nodes.empty(), "a job that saves or restores has nodes");
  if (!job.spec.checkpoint->sharded && direction == Direction::Write) nodes.resize(1);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void StoredCheckpoints::start(JobId id, Direction direction, Callback done) {
  const CheckpointParams& params = *jobs_.job(id).spec.checkpoint;
  const std::vector<NodeId> ends = nodes(id, direction);
  const auto parts = params.sharded ? static_cast<int64_t>(ends.size()) : 1;
  if (id.index >= under_way_.size()) under_way_.resize(id.index + size_t{1});
  under_way_[id.index] = storage_.start({.store = storage_.find(params.store),
                                         .direction = direction,
                                         .nodes = ends,
                                         .each = share(params.bytes, parts)},
                                        std::move(done));
}

void StoredCheckpoints::cancel(JobId job) {
  if (job.index < under_way_.size()) storage_.cancel(under_way_[job.index]);
}

}  // namespace orrery

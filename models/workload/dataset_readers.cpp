#include "models/workload/dataset_readers.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {

DatasetReaders::DatasetReaders(Storage& storage) : storage_{storage} {
  storage.flows().rate_changed.connect([this](FlowId flow) { rate_changed(flow); });
}

void DatasetReaders::begin(JobId job, const DatasetParams& params, std::span<const NodeId> nodes,
                           int32_t gpus, Duration step) {
  if (job.index >= readers_.size()) readers_.resize(job.index + size_t{1});
  const auto count = static_cast<int64_t>(nodes.size());
  const Bytes each{(params.per_step.count * gpus + count - 1) / count};
  readers_[job.index] = {.nodes = {nodes.begin(), nodes.end()},
                         .each = each,
                         .rate_max = static_cast<double>(each.count) * 8 / step.seconds()};
  open(job, storage_.find(params.store));
}

void DatasetReaders::open(JobId job, StoreId store) {
  Reader& reader = readers_[job.index];
  reader.flow = storage_.open({.store = store, .direction = Direction::Read, .nodes = reader.nodes},
                              reader.rate_max);
  if (reader.flow.index >= job_of_flow_.size()) job_of_flow_.resize(reader.flow.index + size_t{1});
  job_of_flow_[reader.flow.index] = job;
}

void DatasetReaders::use_cache(JobId job) {
  storage_.cancel(readers_[job.index].flow);
  open(job, storage_.find(kLocalStore));
}

void DatasetReaders::end(JobId job) {
  if (job.index >= readers_.size()) return;
  storage_.cancel(readers_[job.index].flow);
  readers_[job.index] = {};
}

void DatasetReaders::rate_changed(FlowId flow) {
  const JobId job = job_of_flow_[flow.index];
  Reader& reader = readers_[job.index];
  const double rate = storage_.flows().rate(flow);
  // At the rate that it asked for, reading just keeps up.
  const bool keeps_up = rate >= reader.rate_max * (1 - 1e-9);
  const Duration before = reader.step_time;
  reader.step_time = keeps_up   ? Duration{}
                     : rate > 0 ? reader.each / Bandwidth{std::max(std::llround(rate), 1LL)}
                                : Duration::max();
  if (reader.step_time != before) changed.emit(job);
}

}  // namespace orrery

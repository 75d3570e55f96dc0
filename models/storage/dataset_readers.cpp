#include "models/storage/dataset_readers.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {

DatasetReaders::DatasetReaders(Engine& engine, Storage& storage)
    : engine_{engine}, storage_{storage} {
  storage.flows().rate_changed.connect([this](FlowId flow) { rate_changed(flow); });
}

void DatasetReaders::begin(JobId job, const DatasetParams& params, std::span<const NodeId> nodes,
                           int32_t gpus, Duration step) {
  if (job.index >= readers_.size()) readers_.resize(job.index + size_t{1});
  const auto count = static_cast<int64_t>(nodes.size());
  const Bytes each{(params.per_step.count * gpus + count - 1) / count};
  Reader& reader = readers_[job.index];
  reader = {.nodes = {nodes.begin(), nodes.end()},
            .each = each,
            .rate_max = static_cast<double>(each.count) * 8 / step.seconds(),
            .since = engine_.now()};
  if (params.cache && params.store != kLocalStore) {
    reader.steps_left = static_cast<double>(params.size.count) /
                        (static_cast<double>(params.per_step.count) * gpus);
  }
  open(job, storage_.find(params.store));
}

void DatasetReaders::open(JobId job, StoreId store) {
  Reader& reader = readers_[job.index];
  reader.flow = storage_.open({.store = store, .direction = Direction::Read, .nodes = reader.nodes},
                              reader.rate_max);
  if (reader.flow.index >= job_of_flow_.size()) job_of_flow_.resize(reader.flow.index + size_t{1});
  job_of_flow_[reader.flow.index] = job;
}

void DatasetReaders::end(JobId job) {
  if (job.index >= readers_.size()) return;
  storage_.cancel(readers_[job.index].flow);
  engine_.cancel(readers_[job.index].epoch_over);
  readers_[job.index] = {};
}

// Returns the reader of a gang that has a cache and is in its first epoch; null for other gangs.
DatasetReaders::Reader* DatasetReaders::find(JobId job) {
  const bool has_epoch = job.index < readers_.size() && readers_[job.index].steps_left > 0;
  return has_epoch ? &readers_[job.index] : nullptr;
}

void DatasetReaders::set_step_rate(JobId job, double steps_per_s) {
  Reader* const reader = find(job);
  if (reader == nullptr || reader->steps_per_s == steps_per_s) return;
  const double passed = (engine_.now() - reader->since).seconds();
  reader->steps_left = std::max(reader->steps_left - passed * reader->steps_per_s, 1e-9);
  reader->since = engine_.now();
  reader->steps_per_s = steps_per_s;
  engine_.cancel(reader->epoch_over);
  const Duration left =
      steps_per_s > 0 ? nearest_ns(reader->steps_left / steps_per_s) : Duration::max();
  if (engine_.now() + left == Time::max()) return;
  reader->epoch_over =
      engine_.after(left, Label{"steps.epoch_over"}, [this, job] { use_cache(job); });
}

void DatasetReaders::step_done(JobId job) {
  Reader* const reader = find(job);
  if (reader != nullptr && --reader->steps_left <= 0) use_cache(job);
}

void DatasetReaders::use_cache(JobId job) {
  Reader& reader = readers_[job.index];
  reader.steps_left = 0;
  storage_.cancel(reader.flow);
  open(job, storage_.find(kLocalStore));
}

void DatasetReaders::rate_changed(FlowId flow) {
  const JobId job = job_of_flow_[flow.index];
  Reader& reader = readers_[job.index];
  const double rate = storage_.flows().rate(flow);
  // A transfer at rate_max keeps up with the steps.
  const bool keeps_up = rate >= reader.rate_max * (1 - 1e-9);
  const Duration before = reader.step_time;
  reader.step_time = keeps_up   ? Duration{}
                     : rate > 0 ? reader.each / Bandwidth{std::max(std::llround(rate), 1LL)}
                                : Duration::max();
  if (reader.step_time != before) changed.emit(job);
}

}  // namespace orrery

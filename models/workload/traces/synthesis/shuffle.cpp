#include "models/workload/traces/synthesis/shuffle.hpp"

#include <utility>

namespace orrery {
namespace {

class ShuffledReader final : public TraceReader {
 public:
  ShuffledReader(std::unique_ptr<TraceReader> reader, const ShuffleParams& params, Rng rng,
                 int64_t gpu_milli_total)
      : reader_{std::move(reader)}, interval_{params.interval}, rng_{rng} {
    while (const TraceJob* const job = reader_->next()) jobs_.push_back(*job);
    if (reader_->error()) return;  // a truncated list must not pass for the whole list
    for (uint32_t i = 0; i < jobs_.size(); ++i) order_.push_back(i);
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[rng_.below(i)]);
    if (params.load) fit(*params.load * static_cast<double>(gpu_milli_total));
  }

  const TraceJob* next() override {
    if (delivered_ == order_.size()) return nullptr;
    job_ = jobs_[order_[delivered_]];
    job_.submit = Time{} + interval_ * static_cast<int64_t>(delivered_);
    ++delivered_;
    return &job_;
  }
  const std::vector<std::string>& errors() const override { return reader_->errors(); }
  TraceCounts counts() const override { return reader_->counts(); }
  std::vector<TraceNote> notes() const override { return reader_->notes(); }
  const std::vector<std::string>& skipped_examples() const override {
    return reader_->skipped_examples();
  }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    return reader_->facts();
  }
  std::vector<std::string> side_files() const override { return reader_->side_files(); }
  TraceFormat format() const override { return reader_->format(); }
  TraceColumnUse columns() const override { return reader_->columns(); }

 private:
  // Fits the jobs to a load as the FGD artifact does. Jobs are removed at random until the demand
  // is not above the target. If no job had to be removed, copies of random jobs are added, until
  // a copy does not fit. As in the artifact, a copy fits if the demand plus one GPU of the copy is
  // at most the target, however many GPUs the copy has.
  void fit(double target) {
    int64_t demand = 0;
    for (const TraceJob& job : jobs_) demand += job.gpu_milli_total();
    if (demand == 0) return;  // jobs without demand never reach a load
    while (static_cast<double>(demand) > target) {
      const size_t at = rng_.below(order_.size());
      demand -= jobs_[order_[at]].gpu_milli_total();
      order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (order_.size() < jobs_.size()) return;
    while (true) {
      const auto drawn = static_cast<uint32_t>(rng_.below(jobs_.size()));
      const TraceJob& job = jobs_[drawn];
      const int64_t one = job.gpus() == 0 ? 0 : job.gpu_milli;
      if (static_cast<double>(demand + one) > target) return;
      demand += job.gpu_milli_total();
      order_.push_back(drawn);
    }
  }

  std::unique_ptr<TraceReader> reader_;  // owns the texts of the jobs
  Duration interval_;
  Rng rng_;
  std::vector<TraceJob> jobs_;
  std::vector<uint32_t> order_;  // indices into jobs_, maybe repeated
  size_t delivered_ = 0;
  TraceJob job_;
};

}  // namespace

std::unique_ptr<TraceReader> shuffled(std::unique_ptr<TraceReader> reader,
                                      const ShuffleParams& params, Rng rng,
                                      int64_t gpu_milli_total) {
  return std::make_unique<ShuffledReader>(std::move(reader), params, rng, gpu_milli_total);
}

}  // namespace orrery

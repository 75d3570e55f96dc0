#include "models/workload/training/training_step_params.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/training/training_step.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

// The limit keeps byte counts, and sums of a few of them, within 64 bits.
constexpr double kStepBytesMax = 1e18;
constexpr std::string_view kTooMuch = "would exchange more than 1 EB in a step";

double listed_bytes(const std::vector<ExchangeParams>& exchanges) {
  double sum = 0;
  for (const ExchangeParams& exchange : exchanges) {
    sum += static_cast<double>(exchange.bytes.count) * static_cast<double>(exchange.count);
  }
  return sum;
}

// An upper bound of the bytes that a rank exchanges in a step. The activations of the whole batch
// count 6 + 4 * experts_per_token times for each layer, and twice for each virtual stage. All
// gradients count twice.
double model_bytes_max(const TransformerParams& model, int32_t virtual_stages) {
  const double activations = 2.0 * model.batch * model.sequence * model.hidden;
  const double times = model.layers * (6 + 4.0 * model.experts_per_token) + 2.0 * virtual_stages;
  return activations * times + 2 * parameters_of(model) * model.gradient_bytes;
}

std::string no_reference(const TransformerParams& model) {
  if (find_gpu_model(model.work_gpu) != nullptr) {
    return "the peak of " + model.work_gpu + " in " + std::string{name_of(model.precision)} +
           " is not known: name a GPU model with a known peak, give model.peak_tflops, or give "
           "compute in place of model";
  }
  std::vector<std::string> names;
  for (const GpuModel& gpu : gpu_models()) names.push_back(gpu.name);
  return "no GPU model of the catalogue is called " + in_quotes(model.work_gpu) +
         did_you_mean(model.work_gpu, names);
}

}  // namespace

int32_t group_ranks(ExchangeGroup among, const ParallelParams& parallel, int32_t ranks) {
  switch (among) {
    case ExchangeGroup::Data:
      return ranks / (parallel.tensor * parallel.pipeline);
    case ExchangeGroup::Tensor:
      return parallel.tensor;
    case ExchangeGroup::Pipeline:
      return std::min(parallel.pipeline, 2);
    case ExchangeGroup::Expert:
      return parallel.expert;
    case ExchangeGroup::All:
      break;
  }
  return ranks;
}

std::vector<StepMistake> StepParams::mistakes() const {
  std::vector<StepMistake> found;
  const auto complain = [&](std::string field, std::string message) {
    found.push_back({std::move(field), std::move(message)});
  };
  if (compute.has_value() == model.has_value()) {
    complain("", compute ? "takes either compute or model, not both" : "needs compute or model");
    return found;
  }
  if (compute && *compute == Duration{}) complain("compute", "must be more than 0");
  if (listed_bytes(exchanges) > kStepBytesMax) {
    complain("exchanges", "a rank " + std::string{kTooMuch});
  } else if (model && model_bytes_max(*model, parallel.virtual_stages) > kStepBytesMax) {
    complain("model", "its ranks " + std::string{kTooMuch});
  }
  for (size_t i = 0; i < exchanges.size(); ++i) {
    if (exchanges[i].collective == Collective::PushPull &&
        exchanges[i].among == ExchangeGroup::Pipeline) {
      complain("exchanges[" + std::to_string(i) + "].among",
               "push_pull is among all ranks of a group, not from stage to stage");
    }
  }
  if (model) {
    if (reference_rate(*model) == 0) complain("model.work_gpu", no_reference(*model));
    return found;
  }
  if (parallel.pipeline > 1 && !parallel.microbatches) {
    complain("parallel", "a pipeline without model needs microbatches");
  }
  return found;
}

bool StepParams::lengthens() const {
  return has_exchanges() || optimizer > Duration{} || data > Duration{} ||
         stragglers.fraction > 0 || parallel.pipeline > 1;
}

bool StepParams::is_alone(ExchangeGroup among) const {
  return (among == ExchangeGroup::Tensor && parallel.tensor == 1) ||
         (among == ExchangeGroup::Pipeline && parallel.pipeline == 1) ||
         (among == ExchangeGroup::Expert && parallel.expert == 1);
}

std::vector<StepMistake> StepParams::servers_beyond(int32_t ranks) const {
  std::vector<StepMistake> found;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const std::optional<ServerParams>& servers = exchanges[i].servers;
    const int32_t members = group_ranks(exchanges[i].among, parallel, ranks);
    if (!servers || members < 2) continue;  // a single rank exchanges nothing
    const int32_t most = servers->count_on(members);
    if (servers->count <= most) continue;
    found.push_back({"exchanges[" + std::to_string(i) + "].servers.count",
                     "is more than " + std::to_string(most) + ", the most servers that " +
                         std::to_string(members) +
                         " ranks can have: each is on a node of its own"});
  }
  return found;
}

std::vector<StepMistake> StepParams::mistakes_for(int32_t ranks) const {
  std::vector<StepMistake> found;
  const auto must_divide = [&](int64_t whole, int64_t part, std::string_view field,
                               std::string_view whole_name, std::string_view part_name) {
    if (whole > 0 && whole % part == 0) return;
    found.push_back({std::string{field}, std::to_string(whole) + " " + std::string{whole_name} +
                                             " cannot be shared out evenly among " +
                                             std::to_string(part) + " " + std::string{part_name}});
  };
  const int64_t group = int64_t{parallel.tensor} * parallel.pipeline;
  must_divide(ranks, group, "parallel", "GPUs", "ranks of tensor x pipeline");
  if (!found.empty()) return found;
  const int64_t data_ranks = ranks / group;
  must_divide(data_ranks, parallel.expert, "parallel.expert", "data-parallel ranks",
              "expert ranks");
  if (!found.empty()) return found;
  if (!model) return found;
  must_divide(model->layers, int64_t{parallel.pipeline} * parallel.virtual_stages, "parallel",
              "layers", "shares of pipeline x virtual_stages");
  const int64_t parts =
      data_ranks * (parallel.microbatches ? *parallel.microbatches : parallel.microbatch);
  must_divide(model->batch, parts, "parallel", "sequences", "data-parallel microbatches");
  const double rate = reference_rate(*model);
  if (rate > 0 && compute_time(*this, ranks, rate) == Duration{}) {
    found.push_back({"model", "is so small that a step computes for less than a nanosecond"});
  }
  return found;
}

}  // namespace orrery

#include "models/workload/training/training_step_params.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/training/training_step.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

// Counts of bytes, and sums of them, stay far below what 64 bits hold.
constexpr double kStepBytesMax = 1e18;
constexpr std::string_view kTooMuch = "would exchange more than 1 EB in a step";

double listed_bytes(const std::vector<ExchangeParams>& exchanges) {
  double sum = 0;
  for (const ExchangeParams& exchange : exchanges) {
    sum += static_cast<double>(exchange.bytes.count) * static_cast<double>(exchange.count);
  }
  return sum;
}

// No rank exchanges more: the activations of the whole batch, as often as layers and stages hand
// them on, and all gradients.
double model_bytes_max(const TransformerParams& model, int32_t virtual_stages) {
  const double activations = 2.0 * model.batch * model.sequence * model.hidden;
  const double times = model.layers * (6 + 4.0 * model.experts_per_token) + 2.0 * virtual_stages;
  return activations * times + 2 * parameters_of(model) * model.gradient_bytes;
}

std::string no_reference(const TransformerParams& model) {
  if (find_gpu_model(model.work_gpu) != nullptr) {
    return "the peak of " + model.work_gpu + " in " + std::string{name_of(model.precision)} +
           " is not known: name a GPU model that has one, give model.peak_tflops, or compute in "
           "place of model";
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
  const auto idle = [&](std::string field, std::string_view message) {
    found.push_back({std::move(field), std::string{message}, true});
  };
  if (compute.has_value() == model.has_value()) {
    complain("", compute ? "takes either compute or model, not both" : "needs compute or model");
    return found;
  }
  const auto is_listed = [&](ExchangeGroup group) {
    return std::ranges::find(exchanges, group, &ExchangeParams::among) != exchanges.end();
  };
  if (compute && *compute == Duration{}) complain("compute", "must be more than 0");
  if (listed_bytes(exchanges) > kStepBytesMax) {
    complain("exchanges", "a rank " + std::string{kTooMuch});
  } else if (model && model_bytes_max(*model, parallel.virtual_stages) > kStepBytesMax) {
    complain("model", "its ranks " + std::string{kTooMuch});
  }
  if (parallel.expert > 1 && !is_listed(ExchangeGroup::Expert) &&
      (!model || model->experts_per_token == 0)) {
    idle("parallel.expert", "has no effect without experts_per_token or such exchanges");
  }
  for (size_t i = 0; i < exchanges.size(); ++i) {
    if (exchanges[i].collective == Collective::PushPull &&
        exchanges[i].among == ExchangeGroup::Pipeline) {
      complain("exchanges[" + std::to_string(i) + "].among",
               "push_pull is among all ranks of a group, not from stage to stage");
    }
    const bool is_alone =
        (exchanges[i].among == ExchangeGroup::Tensor && parallel.tensor == 1) ||
        (exchanges[i].among == ExchangeGroup::Pipeline && parallel.pipeline == 1) ||
        (exchanges[i].among == ExchangeGroup::Expert && parallel.expert == 1);
    if (!is_alone) continue;
    idle("exchanges[" + std::to_string(i) + "].among",
         "such a group has one rank: parallel makes none");
  }
  if (model) {
    if (reference_rate(*model) == 0) complain("model.work_gpu", no_reference(*model));
    if (model->experts_per_token > 0 && parallel.expert == 1) {
      idle("model.experts_per_token", "has no effect while parallel.expert is 1");
    }
    const bool hands_on = parallel.tensor > 1 || parallel.pipeline > 1 ||
                          (parallel.expert > 1 && model->experts_per_token > 0);
    constexpr std::string_view kKept =
        "has no effect: no ranks hand on activations, as those of tensor, pipeline and expert "
        "groups do";
    if (!hands_on && parallel.microbatch > 1) idle("parallel.microbatch", kKept);
    if (!hands_on && parallel.microbatches) idle("parallel.microbatches", kKept);
    return found;
  }
  if (zero) idle("zero", "has no effect without model: list the exchanges instead");
  if (parallel.microbatch > 1) idle("parallel.microbatch", "has no effect without model");
  if (parallel.pipeline > 1 && !parallel.microbatches) {
    complain("parallel", "a pipeline without model needs microbatches");
  }
  if (parallel.pipeline == 1 && parallel.microbatches) {
    idle("parallel.microbatches", "has no effect without model or pipeline");
  }
  if (overlap > 0 && exchanges.empty()) idle("overlap", "has no effect without exchanges");
  // Among stages or all ranks the groups are the same whatever they are made of.
  if (parallel.tensor > 1 && !is_listed(ExchangeGroup::Tensor) && !is_listed(ExchangeGroup::Data) &&
      !is_listed(ExchangeGroup::Expert)) {
    idle("parallel.tensor",
         "has no effect without model or exchanges among data, tensor or expert ranks");
  }
  return found;
}

bool StepParams::is_sound() const { return std::ranges::all_of(mistakes(), &StepMistake::is_idle); }

std::vector<StepMistake> StepParams::servers_beyond(int32_t ranks) const {
  std::vector<StepMistake> found;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const std::optional<ServerParams>& servers = exchanges[i].servers;
    const int32_t members = group_ranks(exchanges[i].among, parallel, ranks);
    if (!servers || members < 2) continue;  // a lone rank exchanges nothing
    const int32_t most = servers->count_on(members);
    if (servers->count <= most) continue;
    found.push_back({"exchanges[" + std::to_string(i) + "].servers.count",
                     "is more than " + std::to_string(most) + ", which " + std::to_string(members) +
                         " ranks have nodes for at most"});
  }
  return found;
}

std::vector<StepMistake> StepParams::unused_by(int32_t ranks) const {
  std::vector<StepMistake> found;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    if (group_ranks(exchanges[i].among, parallel, ranks) > 1) continue;
    found.push_back({"exchanges[" + std::to_string(i) + "]",
                     "has no effect: such a group has one rank of " + std::to_string(ranks)});
  }
  if (ranks == parallel.tensor * parallel.pipeline) {
    constexpr std::string_view kOneRank = "has no effect: there is one data-parallel rank";
    if (zero) found.push_back({"zero", std::string{kOneRank}});
    if (model) found.push_back({"model.gradient_bytes", std::string{kOneRank}});
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

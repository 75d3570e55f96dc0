#include "models/workload/training/training_step.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/core/check.hpp"
#include "sim/core/int128.hpp"

namespace orrery {
namespace {

constexpr int64_t kActivationBytes = 2;  // bytes of one number that layers pass on

int32_t data_ranks(const StepParams& params, int32_t ranks) {
  return ranks / (params.parallel.tensor * params.parallel.pipeline);
}

int32_t microbatches_of(const StepParams& params, int32_t ranks) {
  if (params.parallel.microbatches) return *params.parallel.microbatches;
  if (!params.model) return 1;
  return params.model->batch / (data_ranks(params, ranks) * params.parallel.microbatch);
}

StepTraffic traffic_of(const StepParams& params, int32_t ranks, ExchangeGroup among,
                       Collective collective, Bytes bytes, int64_t count) {
  const ParallelParams& parallel = params.parallel;
  StepTraffic traffic{.among = among,
                      .collective = collective,
                      .bytes = bytes,
                      .count = count,
                      .ranks = group_ranks(among, parallel, ranks)};
  if (among == ExchangeGroup::Data || among == ExchangeGroup::Expert) {
    traffic.stride = parallel.tensor;
  } else if (among == ExchangeGroup::Pipeline) {  // a stage and the next one
    traffic.stride = parallel.tensor * data_ranks(params, ranks);
  }
  return traffic;
}

// The exchanges of a step of the transformer `params.model`. The activations of a microbatch with b
// sequences of s tokens in a model of width h are b * s * h numbers.
class ModelTraffic {
 public:
  ModelTraffic(const StepParams& params, int32_t ranks) : params_{params}, ranks_{ranks} {
    const TransformerParams& model = *params.model;
    const ParallelParams& parallel = params.parallel;
    const int64_t sequences =
        parallel.microbatches
            ? std::max<int64_t>(
                  1, model.batch / (int64_t{data_ranks(params, ranks)} * *parallel.microbatches))
            : parallel.microbatch;
    tokens_ = {sequences * model.sequence * model.hidden * kActivationBytes};
    rounds_ = microbatches_of(params, ranks);
    layer_rounds_ = rounds_ * (model.layers / parallel.pipeline);
  }

  std::vector<StepTraffic> list() {
    const TransformerParams& model = *params_.model;
    const ParallelParams& parallel = params_.parallel;
    // Each layer has two all-reduces in the forward and two in the backward pass, and two more if
    // the forward pass is recomputed.
    add(ExchangeGroup::Tensor, Collective::AllReduce, tokens_,
        layer_rounds_ * (model.recompute ? 6 : 4));
    // A stage with v interleaved shares of the layers sends each microbatch v times in the forward
    // and v times in the backward pass. Each rank of a tensor group sends an equal part of the
    // activations.
    add(ExchangeGroup::Pipeline, Collective::PointToPoint, {tokens_.count / parallel.tensor},
        2 * rounds_ * parallel.virtual_stages);
    // Tokens go to the experts and back, in the forward and in the backward pass.
    if (model.experts_per_token > 0) {
      add(ExchangeGroup::Expert, Collective::AllToAll, tokens_ * model.experts_per_token,
          4 * layer_rounds_);
    }
    const double of_rank = parameters_of(model) / (parallel.tensor * parallel.pipeline);
    const Bytes gradients{static_cast<int64_t>(of_rank * model.gradient_bytes)};
    if (params_.zero) {
      add(ExchangeGroup::Data, Collective::ReduceScatter, gradients, 1);
      add(ExchangeGroup::Data, Collective::AllGather, gradients, 1);
    } else {
      add(ExchangeGroup::Data, Collective::AllReduce, gradients, 1);
    }
    return std::move(traffic_);
  }

 private:
  void add(ExchangeGroup among, Collective collective, Bytes bytes, int64_t count) {
    const StepTraffic one = traffic_of(params_, ranks_, among, collective, bytes, count);
    if (one.ranks > 1) traffic_.push_back(one);
  }

  const StepParams& params_;
  int32_t ranks_;
  Bytes tokens_{};
  int64_t rounds_ = 1, layer_rounds_ = 1;
  std::vector<StepTraffic> traffic_;
};

}  // namespace

StepPlan plan_step(const StepParams& params, int32_t ranks, int32_t nodes,
                   std::optional<double> flops_rate) {
  ORRERY_CHECK(params.mistakes().empty() && params.mistakes_for(ranks).empty(),
               "mistakes are reported before a step is planned");
  StepPlan plan;
  const double rate = flops_rate ? *flops_rate : params.model ? reference_rate(*params.model) : 0;
  plan.compute = std::max(compute_time(params, ranks, rate), 1_ns);
  if (params.model) plan.traffic = ModelTraffic{params, ranks}.list();
  const double bubble = bubble_fraction(params.parallel.pipeline, params.parallel.virtual_stages,
                                        microbatches_of(params, ranks));
  plan.bubble = nearest_ns(plan.compute.seconds() * bubble);
  plan.fixed = params.optimizer + params.data;
  plan.slowdown = expected_slowdown(params.stragglers, nodes);
  plan.overlap = params.overlap;
  for (const ExchangeParams& exchange : params.exchanges) {
    StepTraffic one = traffic_of(params, ranks, exchange.among, exchange.collective, exchange.bytes,
                                 exchange.count);
    one.method = {exchange.algorithm, exchange.stages, exchange.servers};
    if (one.ranks > 1) plan.traffic.push_back(std::move(one));
  }
  return plan;
}

Duration working_time(const StepPlan& plan) {
  return nearest_ns((plan.compute.seconds() + plan.bubble.seconds()) * plan.slowdown);
}

Duration hidden_time(const StepPlan& plan) {
  return nearest_ns(plan.compute.seconds() * plan.overlap);
}

CommGroup group_of(const StepTraffic& traffic, const Machine& machine, GpuMask gpus) {
  const int32_t on_node = std::popcount(gpus);
  ORRERY_CHECK(on_node > 0, "the job has GPUs on its nodes");
  int32_t per_node = std::clamp(on_node / traffic.stride, 1, traffic.ranks);
  while (traffic.ranks % per_node != 0) --per_node;  // the same number on each node
  GpuMask members = 0;
  for (int32_t gpu = 0, rank = 0; gpu < machine.gpus() && std::popcount(members) < per_node;
       ++gpu) {
    if ((gpus >> gpu & 1U) == 0) continue;
    if (rank % traffic.stride == 0) members = static_cast<GpuMask>(members | 1U << gpu);
    ++rank;
  }
  CommGroup group = comm_group(machine, members, traffic.ranks / per_node);
  if (group.nodes > 1) {
    const CommGroup all = comm_group(machine, gpus, 2);
    group.nics.bits_per_s = all.nics.bits_per_s * per_node / on_node;
  }
  return group;
}

LoneExchange lone_exchange(const StepTraffic& traffic, const Machine& machine, GpuMask gpus,
                           double nic_factor, const ExchangeTimes& times) {
  CommGroup group = group_of(traffic, machine, gpus);
  group.nics = {std::llround(static_cast<double>(group.nics.bits_per_s) * nic_factor)};
  return times.alone(traffic.collective, traffic.method, group, traffic.bytes);
}

Duration exchange_time(const StepPlan& plan, const Machine& machine, GpuMask gpus,
                       double nic_factor, const ExchangeTimes& times) {
  Duration sum{};
  for (const StepTraffic& traffic : plan.traffic) {
    const Duration once = lone_exchange(traffic, machine, gpus, nic_factor, times).time;
    sum += nearest_ns(once.seconds() * static_cast<double>(traffic.count));
  }
  return sum;
}

double polling_factor(const PollingParams& params, double cores_per_gpu, int32_t nodes) {
  if (nodes < 2 || cores_per_gpu >= params.cores_per_gpu) return 1;
  return std::pow(cores_per_gpu / params.cores_per_gpu, params.exponent);
}

Duration compute_time(const StepParams& params, int32_t ranks, double flops_rate) {
  if (params.compute) return *params.compute;
  return nearest_ns(flops_per_step(*params.model) / (flops_rate * ranks));
}

double flops_rate(const TransformerParams& model, const GpuModel& gpu) {
  const double peak = model.peak_tflops.value_or(gpu.peak_tflops.at(model.precision));
  return peak * 1e12 * model.efficiency;
}

double reference_rate(const TransformerParams& model) {
  const GpuModel* const gpu = find_gpu_model(model.work_gpu);
  return gpu != nullptr || model.peak_tflops ? flops_rate(model, gpu ? *gpu : GpuModel{}) : 0;
}

Duration work_at(Duration work, Duration reference, Duration compute) {
  // `reference` may be 0: a step of a tiny model takes less than a nanosecond.
  const int128_t scaled = int128_t{work.ns} * compute.ns / std::max(reference.ns, int64_t{1});
  return {static_cast<int64_t>(std::clamp<int128_t>(scaled, work.ns > 0, Duration::max().ns))};
}

Duration in_whole_steps(Duration interval, Duration compute) {
  if (interval > Duration::max() - compute) return interval;
  return compute * ((interval + compute - 1_ns) / compute);
}

// Counts matrix products only. For a sequence of s tokens, the forward pass of a layer of width h
// takes 24 s h^2 (1 + s / (6 h)) operations. The backward pass takes twice as many. Recomputation
// adds another forward pass. The output layer takes 6 s h v: 2 s h v forward, 4 s h v backward.
double flops_per_step(const TransformerParams& model) {
  const double h = model.hidden, s = model.sequence, l = model.layers, v = model.vocabulary;
  const double ways = model.recompute ? 4 : 3;
  const double layers = ways * 24 * l * h * h * (1 + s / (6 * h));
  return model.batch * s * (layers + 6 * h * v);
}

double model_flops_utilisation(const TransformerParams& model, int32_t ranks, Duration step) {
  const double peak = reference_rate(model) / model.efficiency;
  return flops_per_step(model) / (step.seconds() * ranks * peak);
}

double parameters_of(const TransformerParams& model) {
  const double h = model.hidden, l = model.layers;
  return 12 * l * h * h + 13 * l * h + (static_cast<double>(model.vocabulary) + model.sequence) * h;
}

Duration training_time(double parameters, double tokens, bool recompute, double flops_per_s) {
  return nearest_ns((recompute ? 8 : 6) * parameters * tokens / flops_per_s);
}

double bubble_fraction(int32_t stages, int32_t virtual_stages, int32_t microbatches) {
  return static_cast<double>(stages - 1) / (static_cast<double>(virtual_stages) * microbatches);
}

double straggler_probability(double fraction, int32_t nodes) {
  return 1 - std::pow(1 - fraction, nodes);
}

double expected_slowdown(const StragglerParams& params, int32_t nodes) {
  return 1 + params.slowdown * straggler_probability(params.fraction, nodes);
}

Bytes checkpoint_bytes(double parameters, double bytes_per_parameter) {
  return {static_cast<int64_t>(parameters * bytes_per_parameter + 0.5)};
}

}  // namespace orrery

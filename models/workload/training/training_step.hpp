// models/workload/training/training_step.hpp -- duration and work of a synchronous training step.
//
// Training is a loop: data, compute, exchange, wait, update. With p stages, v shares of the layers
// on each stage, and m microbatches, a step takes
//   t = compute * (1 + (p - 1) / (v * m)) * slowdown + max(0, exchange - overlap * compute) + fixed
// where slowdown is the expected effect of waiting for the slowest machine, and fixed is the time
// of optimizer and data. Example: compute 1 s, p = 4, v = 1, m = 12, slowdown 1, exchange 0.5 s,
// overlap 0.3: 1.25 s + 0.2 s + fixed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/hardware/machine.hpp"
#include "models/network/collectives/collectives.hpp"
#include "models/network/collectives/exchange_params.hpp"
#include "models/network/collectives/exchange_times.hpp"
#include "models/workload/training/training_step_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// An exchange in which each rank takes part `count` times a step. A group consists of `ranks`
// ranks, whose numbers are `stride` apart. Each rank of the job is in one such group, and all
// groups exchange at the same time.
struct StepTraffic {
  ExchangeGroup among = ExchangeGroup::Data;
  Collective collective = Collective::AllReduce;
  Bytes bytes{};
  int64_t count = 1;
  int32_t ranks = 1;
  int32_t stride = 1;
  ExchangeMethod method{};
};

struct StepPlan {
  Duration compute{};   // time of a rank that never waits
  Duration bubble{};    // wait while the pipeline fills and empties
  Duration fixed{};     // optimizer and data
  double slowdown = 1;  // factor on compute and bubble
  double overlap = 0;
  std::vector<StepTraffic> traffic;
};
// mistakes() and mistakes_for(ranks) of `params` must be empty. `flops_rate` is the FLOP/s of each
// GPU. If it is absent, the FLOP/s of the GPU model `model.work_gpu` are used.
StepPlan plan_step(const StepParams& params, int32_t ranks, int32_t nodes,
                   std::optional<double> flops_rate = {});
// working_time() is compute, plus waits for other stages and for slower machines. hidden_time() is
// the longest exchange that compute can hide.
Duration working_time(const StepPlan& plan);
Duration hidden_time(const StepPlan& plan);

// One group of this traffic. `gpus` are the job's GPUs on each node. All groups on a node share its
// NICs equally.
CommGroup group_of(const StepTraffic& traffic, const Machine& machine, GpuMask gpus);
// Duration and pattern of a single exchange. NICs reach `nic_factor` of their rate, see
// polling_factor().
LoneExchange lone_exchange(const StepTraffic& traffic, const Machine& machine, GpuMask gpus,
                           double nic_factor = 1, const ExchangeTimes& times = {});
// Duration of all exchanges of a step, one after another.
Duration exchange_time(const StepPlan& plan, const Machine& machine, GpuMask gpus,
                       double nic_factor = 1, const ExchangeTimes& times = {});

// Share of a NIC's rate that a job achieves with `cores_per_gpu`; 1 on a single node.
double polling_factor(const PollingParams& params, double cores_per_gpu, int32_t nodes);

// Floating-point operations of one step over all ranks.
double flops_per_step(const TransformerParams& model);
// FLOP/s that a GPU achieves: its peak times the efficiency. 0 if the peak is unknown.
double flops_rate(const TransformerParams& model, const GpuModel& gpu);
// flops_rate() of the GPU model `model.work_gpu`. The `work` of a job is its compute time on this
// GPU model. 0 if the peak is unknown.
double reference_rate(const TransformerParams& model);
// Compute time of each rank in a step, without waits: `params.compute` or, if it is not given, the
// time for the model's operations at `flops_rate`.
Duration compute_time(const StepParams& params, int32_t ranks, double flops_rate);
// Converts the compute time `work` of a job to other GPUs. A step computes for `reference` on the
// old GPUs and for `compute` on the new GPUs. Example: if these are 1 s and 0.5 s, 10 h become 5 h.
Duration work_at(Duration work, Duration reference, Duration compute);
Duration in_whole_steps(Duration interval, Duration compute);  // rounded up
double model_flops_utilisation(const TransformerParams& model, int32_t ranks, Duration step);
double parameters_of(const TransformerParams& model);
// Duration of a whole training: 6 operations for each parameter and token, 8 with recomputation.
// Example: 7e9 parameters and 1e12 tokens at 4e17 FLOP/s take 105,000 s.
Duration training_time(double parameters, double tokens, bool recompute, double flops_per_s);

double bubble_fraction(int32_t stages, int32_t virtual_stages, int32_t microbatches);
// straggler_probability() is the probability that at least one node is slow, if each is slow with
// probability `fraction`. expected_slowdown() is the mean factor on a step's compute time.
double straggler_probability(double fraction, int32_t nodes);
double expected_slowdown(const StragglerParams& params, int32_t nodes);

// By default, each parameter takes 14 bytes: 2 for its weight in 16 bits, and 4 each for its weight
// in 32 bits, its momentum and its variance.
Bytes checkpoint_bytes(double parameters, double bytes_per_parameter = 14);

}  // namespace orrery

#include "models/workload/training/training_step.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "models/workload/training/communicator_init.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

TransformerParams model_of(const json& input) {
  TransformerParams model;
  model.layers = input.at("layers");
  model.hidden = input.at("hidden");
  model.sequence = input.value("sequence", 2048);
  model.vocabulary = input.at("vocabulary");
  model.batch = input.value("batch", 1);
  model.peak_tflops = input.value("peak_tflops", 312.0);
  return model;
}

// Time of a step without its exchanges. The case gives no parallelism, so tensor groups of 64 GPUs
// are assumed. They affect only exchanges, which are not counted.
double iteration_seconds(const json& input) {
  StepParams params;
  params.model = model_of(input);
  params.parallel.tensor = 64;
  params.model->efficiency = input.at("mfu_percent").get<double>() / 100;
  const StepPlan plan = plan_step(params, input.at("gpus"), input.at("gpus").get<int32_t>() / 8);
  return cycle_of(plan, {}).length({}).seconds();
}

double init_seconds(const json& input) {
  CommunicatorParams params;
  const auto method = input.at("method").get<std::string>();
  params.method = method == "tcp_store" ? CommunicatorMethod::TcpStore
                  : method == "redis"   ? CommunicatorMethod::Redis
                                        : CommunicatorMethod::Ordered;
  return communicator_init_time(params, input.at("ranks").get<int32_t>()).seconds();
}

json ours_in_training_step(const json& input) {
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "mfu_percent") {
    return 100 * model_flops_utilisation(model_of(input), input.at("gpus").get<int32_t>(),
                                         nearest_ns(input.at("step_seconds").get<double>()));
  }
  if (quantity == "iteration_seconds") return iteration_seconds(input);
  if (quantity == "parameters_billions") return parameters_of(model_of(input)) / 1e9;
  if (quantity == "training_days") {
    const double flops_per_s =
        input.at("gpus").get<double>() * input.at("tflops").get<double>() * 1e12;
    return training_time(input.at("parameters").get<double>(), input.at("tokens").get<double>(),
                         input.at("recompute").get<bool>(), flops_per_s)
               .seconds() /
           86'400;
  }
  if (quantity == "bubble") {
    return bubble_fraction(input.at("stages").get<int32_t>(),
                           input.at("virtual_stages").get<int32_t>(),
                           input.at("microbatches").get<int32_t>());
  }
  const auto nodes = input.value("nodes", 1);
  const double fraction = input.value("fraction", 0.0);
  if (quantity == "straggler_probability") return straggler_probability(fraction, nodes);
  if (quantity == "expected_slowdown_percent") {
    return 100 * (expected_slowdown({fraction, input.at("slowdown").get<double>()}, nodes) - 1);
  }
  if (quantity == "checkpoint_terabytes") {
    return static_cast<double>(checkpoint_bytes(input.at("parameters").get<double>()).count) / 1e12;
  }
  if (quantity == "init_seconds") return init_seconds(input);
  if (quantity == "init_takes_less_than") {
    return init_seconds(input) < input.at("limit_seconds").get<double>() ? "yes" : "no";
  }
  return "unknown quantity";
}

TEST(TrainingStepValidation, EveryCaseOfTheTableHolds) {
  test::check_cases("training_step.json", 50, ours_in_training_step);
}

}  // namespace
}  // namespace orrery

// Durations of training steps of a transformer (step.model) on two GPU models, in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/workload/training/training_step.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/control_plane/scenario_mistakes.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kPeakOfA100 = 312, kPeakOfH100 = 989;  // peak TFLOP/s with 16-bit numbers

// A scenario with one node of A100 and one of H100.
std::string on_two_models(const std::string& step, const std::string& jobs,
                          const std::string& rest = "") {
  return R"(
cluster: {pools: [{name: a, machine: dgx-a100, count: 1}, {name: h, machine: hgx-h100, count: 1}]}
network: {level: flow}
policy: {base: strict_gang, cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s, bind: 0s}}
workload:
  training: {step: )" +
         step + "}\n  sources: [{kind: jobs, jobs: [" + jobs + "]}]\n" + rest;
}
const std::string kOneEach =
    "{name: a, work: 10min, pod: {gpus: 8, node_selector: {pool: a}}}, "
    "{name: h, work: 10min, pod: {gpus: 8, node_selector: {pool: h}}}";
const std::string kSmallGpt = "layers: 24, hidden: 2048, batch: 64";

// Useful seconds per GPU of two jobs: [0] is job a on A100, [1] is job h on H100.
std::vector<double> computed_on_each(const std::string& step) {
  ScenarioRun run{on_two_models(step, kOneEach), {}, {}};
  std::vector<double> seconds(2);
  for (const JobRow& job : run.jobs()) {
    EXPECT_EQ(job.outcome, JobOutcome::Completed);
    EXPECT_EQ(job.work, 10_min);
    seconds[job.name.view() == "h"] = job.gpu_s_useful / 8;
  }
  return seconds;
}

TEST(ModelStep, TakesAsLongAsThePeakOfTheGpuModelSays) {
  const std::vector<double> seconds = computed_on_each("{model: {" + kSmallGpt + "}}");
  EXPECT_NEAR(seconds[0], 600, 1e-6);
  EXPECT_NEAR(seconds[1], 600 * kPeakOfA100 / kPeakOfH100, 1e-3);
}

TEST(ModelStep, IsMeasuredOnTheGpuModelThatItNames) {
  const std::vector<double> seconds =
      computed_on_each("{model: {work_gpu: H100M80, " + kSmallGpt + "}}");
  EXPECT_NEAR(seconds[0], 600 * kPeakOfH100 / kPeakOfA100, 1e-2);
  EXPECT_NEAR(seconds[1], 600, 1e-6);
}

TEST(ModelStep, TakesEquallyLongWhereOnePeakIsGivenForAll) {
  const std::vector<double> seconds =
      computed_on_each("{model: {peak_tflops: 500, " + kSmallGpt + "}}");
  EXPECT_NEAR(seconds[0], 600, 1e-6);
  EXPECT_NEAR(seconds[1], 600, 1e-6);
}

TEST(ModelStep, OfComputeInSecondsTakesSoLongOnAnyGpu) {
  const std::vector<double> seconds = computed_on_each("{compute: 1s, exchanges: [{bytes: 1GB}]}");
  EXPECT_NEAR(seconds[0], 600, 1e-6);
  EXPECT_NEAR(seconds[1], 600, 1e-6);
}

TEST(ModelStep, GoesAtThePaceOfTheSlowestGpu) {
  ScenarioRun run{on_two_models("{model: {" + kSmallGpt + "}}",
                                "{name: both, work: 10min, pods: 2, pod: {gpus: 8}}"),
                  {},
                  {}};
  EXPECT_NEAR(run.jobs().at(0).gpu_s_useful, 16 * 600, 1e-6);
}

TEST(ModelStep, LosesNoneWhenAGangGoesOnWithAnotherGpuModel) {
  for (const char* const steps : {"rate", "traced"}) {
    SCOPED_TRACE(steps);
    ScenarioRun run{
        on_two_models("{model: {" + kSmallGpt + "}}",
                      "{name: j, submit: 2s, work: 10min, pod: {gpus: 8}}",
                      "faults: {list: [{node: h-0, at: 1s, repair: 100s}, "
                      "{node: a-0, at: 302s, repair: 1h}]}\n"),
        {std::string{"workload.steps="} + steps, "workload.training.checkpoint_interval=100s"},
        {}};
    const JobRow job = run.jobs().at(0);
    EXPECT_EQ(job.restarts, 1);
    // Useful seconds of a GPU: `saved` on A100, then (600 - saved) * kPeakOfA100 / kPeakOfH100 on
    // H100. At least 200 s are saved before the failure.
    const double saved =
        (job.gpu_s_useful / 8 - 600 * kPeakOfA100 / kPeakOfH100) / (1 - kPeakOfA100 / kPeakOfH100);
    EXPECT_GE(saved, 200);
    EXPECT_LT(saved, 203) << "checkpoints are made between two steps of 1.06 s";
  }
}

TEST(ModelStep, PeaksAreThoseOfDataSheets) {
  TransformerParams model;
  EXPECT_DOUBLE_EQ(flops_rate(model, *find_gpu_model("A100M80")), 0.45 * 312e12);
  EXPECT_DOUBLE_EQ(flops_rate(model, *find_gpu_model("V100M32")), 0.45 * 125e12);
  model.precision = Precision::Fp8;
  model.efficiency = 0.4;
  EXPECT_DOUBLE_EQ(flops_rate(model, *find_gpu_model("H100M80")), 0.4 * 1979e12);
  EXPECT_EQ(flops_rate(model, *find_gpu_model("A100M80")), 0) << "it has no such units";
  model.peak_tflops = 10;
  EXPECT_DOUBLE_EQ(flops_rate(model, *find_gpu_model("G2")), 0.4 * 10e12);
}

TEST(ModelStep, OnAGpuWithoutAKnownPeakIsAMistake) {
  const auto mistakes = [](const std::string& step, const std::string& pod) {
    std::string yaml = on_two_models(step, "{name: j, work: 10min, pod: {" + pod + "}}");
    yaml.replace(yaml.find("hgx-h100"), 8, "g2-8");
    return test::mistakes_of_scenario(yaml);
  };
  const std::string step = "{model: {" + kSmallGpt + "}}";
  EXPECT_THAT(mistakes(step, "gpus: 8"),
              AllOf(HasSubstr("workload.training.step.model: gangs may run on h-0, and the peak of "
                              "G2 in half is not known"),
                    HasSubstr("step.compute")));
  EXPECT_THAT(mistakes(step, "gpus: 8, node_selector: {pool: a}"), Not(HasSubstr("peak")));
  EXPECT_THAT(mistakes("{model: {peak_tflops: 100, " + kSmallGpt + "}}", "gpus: 8"),
              Not(HasSubstr("known")));
  EXPECT_THAT(mistakes("{compute: 1s, exchanges: [{bytes: 1GB}]}", "gpus: 8"),
              Not(HasSubstr("peak")));
  const std::string on_a = "gpus: 8, node_selector: {pool: a}";
  EXPECT_THAT(mistakes("{model: {precision: fp8, " + kSmallGpt + "}}", on_a),
              HasSubstr("step.model.work_gpu: the peak of A100M80 in fp8 is not known"));
  EXPECT_THAT(mistakes("{model: {work_gpu: A100, " + kSmallGpt + "}}", on_a),
              HasSubstr("no GPU model of the catalogue is called 'A100'"));
}

}  // namespace
}  // namespace orrery

#include "models/workload/training/training_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/hardware/machine_catalogue.hpp"
#include "models/network/collectives/nccl_tuner.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StepParams plain_step(Duration compute) {
  StepParams params;
  params.compute = compute;
  return params;
}

// A model of 24 layers of width 1,024 on 32 GPUs. Tensor groups have 4 of a node's 8 GPUs, and the
// pipeline has 2 stages.
StepParams small_model() {
  StepParams params;
  params.model = TransformerParams{};
  params.model->layers = 24;
  params.model->hidden = 1024;
  params.model->sequence = 512;
  params.model->vocabulary = 1000;
  params.model->batch = 64;
  params.parallel.tensor = 4;
  params.parallel.pipeline = 2;
  params.parallel.microbatch = 2;
  return params;
}

std::vector<std::string> messages_of(std::string_view yaml) {
  Diagnostics diagnostics;
  const auto document = config::load_text(yaml, "step.yaml", diagnostics);
  static_cast<void>(read_params<StepParams>(document.root, "step", diagnostics));
  return diagnostics.messages();
}

TEST(StepTime, IsComputeBubbleAndWhatOverlapDoesNotHide) {
  StepParams params = plain_step(800_ms);
  params.parallel.pipeline = 3;
  params.parallel.microbatches = 8;
  params.overlap = 0.5;
  params.exchanges.push_back({.bytes = {1'000'000}});
  params.optimizer = 30_ms;
  params.data = 20_ms;
  const StepPlan plan = plan_step(params, 6, 6);
  EXPECT_EQ(plan.compute, 800_ms);
  EXPECT_EQ(plan.bubble, 200_ms);
  EXPECT_EQ(plan.fixed, 50_ms);
  EXPECT_EQ(cycle_of(plan, 300_ms).length({}), 1050_ms) << "all of the exchange is hidden";
  EXPECT_EQ(cycle_of(plan, 500_ms).length({}), 1150_ms);
}

TEST(StepTime, WaitsForTheSlowestOfTheMachines) {
  StepParams params = plain_step(1_s);
  params.stragglers = {.fraction = 0.5, .slowdown = 0.2};
  EXPECT_EQ(cycle_of(plan_step(params, 1, 1), {}).length({}), 1100_ms);
  EXPECT_EQ(cycle_of(plan_step(params, 2, 2), {}).length({}), 1150_ms);
  params.stragglers.fraction = 1;
  EXPECT_EQ(cycle_of(plan_step(params, 64, 64), {}).length({}), 1200_ms);
}

TEST(PlanStep, ComputesTheModelAtTheEfficiencyOfThePeak) {
  StepParams params = small_model();
  params.model->efficiency = 0.5;
  params.model->peak_tflops = 100;
  const double flops = flops_per_step(*params.model);
  EXPECT_DOUBLE_EQ(
      flops, 64.0 * 512 * (72.0 * 24 * 1024 * 1024 * (1 + 512.0 / (6 * 1024)) + 6.0 * 1024 * 1000));
  EXPECT_EQ(plan_step(params, 32, 4).compute, nearest_ns(flops / (32 * 50e12)));
  params.model->recompute = true;
  EXPECT_GT(flops_per_step(*params.model), 1.3 * flops);
}

TEST(PlanStep, ExchangesWhatTheParallelismNeeds) {
  const StepPlan plan = plan_step(small_model(), 32, 4);
  ASSERT_EQ(plan.traffic.size(), 3U);
  // Bytes of a microbatch: 2 sequences of 512 * 1,024 numbers, 2 bytes each.
  const int64_t tokens = 2 * 512 * 1024 * 2;
  // Tensor groups have 4 ranks, and each of 2 stages has 12 layers. So 32 ranks hold
  // 32 / (4 * 2) = 4 replicas of the model. Each replica computes 64 / 4 = 16 sequences, as
  // 8 microbatches of 2 sequences.
  const StepTraffic& tensor = plan.traffic[0];
  EXPECT_EQ(tensor.among, ExchangeGroup::Tensor);
  EXPECT_EQ(tensor.bytes.count, tokens);
  EXPECT_EQ(tensor.count, 4 * 12 * 8);
  EXPECT_EQ(tensor.ranks, 4);
  EXPECT_EQ(tensor.stride, 1);
  const StepTraffic& stage = plan.traffic[1];
  EXPECT_EQ(stage.among, ExchangeGroup::Pipeline);
  EXPECT_EQ(stage.collective, Collective::PointToPoint);
  EXPECT_EQ(stage.bytes.count, tokens / 4);
  EXPECT_EQ(stage.count, 2 * 8);
  EXPECT_EQ(stage.stride, 16);
  const StepTraffic& data = plan.traffic[2];
  EXPECT_EQ(data.among, ExchangeGroup::Data);
  EXPECT_EQ(data.ranks, 4);
  EXPECT_EQ(data.stride, 4);
  EXPECT_NEAR(static_cast<double>(data.bytes.count), parameters_of(*small_model().model) / 8 * 4,
              1);
}

TEST(PlanStep, WithZeroScattersAndGathersTheSameBytes) {
  StepParams params = small_model();
  const Bytes reduced = plan_step(params, 32, 4).traffic[2].bytes;
  params.zero = true;
  const StepPlan plan = plan_step(params, 32, 4);
  ASSERT_EQ(plan.traffic.size(), 4U);
  EXPECT_EQ(plan.traffic[2].collective, Collective::ReduceScatter);
  EXPECT_EQ(plan.traffic[3].collective, Collective::AllGather);
  EXPECT_EQ(plan.traffic[2].bytes, reduced);
  EXPECT_EQ(plan.traffic[3].bytes, reduced);
}

TEST(PlanStep, SendsEveryTokenToItsExpertsAndBack) {
  StepParams params = small_model();
  params.parallel.expert = 4;
  params.model->experts_per_token = 2;
  const StepPlan plan = plan_step(params, 32, 4);
  ASSERT_EQ(plan.traffic.size(), 4U);
  const StepTraffic& expert = plan.traffic[2];
  EXPECT_EQ(expert.collective, Collective::AllToAll);
  EXPECT_EQ(expert.bytes.count, 2 * (2 * 512 * 1024 * 2));
  EXPECT_EQ(expert.count, 4 * 12 * 8);
  EXPECT_EQ(expert.ranks, 4);
  EXPECT_EQ(expert.stride, 4);
}

TEST(PlanStep, OfOneRankExchangesNothing) {
  StepParams params = plain_step(1_s);
  params.exchanges.push_back({.bytes = {1'000'000}});
  EXPECT_THAT(plan_step(params, 1, 1).traffic, IsEmpty());
  EXPECT_EQ(plan_step(params, 2, 1).traffic.size(), 1U);
}

TEST(GroupOf, PutsTensorGroupsInsideANodeAndSpreadsTheOthers) {
  const Machine& machine = *find_machine("hgx-h100");
  const StepPlan plan = plan_step(small_model(), 32, 4);
  const CommGroup tensor = group_of(plan.traffic[0], machine, machine.all_gpus());
  EXPECT_EQ(tensor.nodes, 1);
  EXPECT_EQ(tensor.ranks, 4);
  const CommGroup stage = group_of(plan.traffic[1], machine, machine.all_gpus());
  EXPECT_EQ(stage.nodes, 2);
  EXPECT_EQ(stage.ranks_per_node(), 1);
  EXPECT_EQ(stage.nics.bits_per_s, 48LL * 8'000'000'000) << "its own NIC";
  const CommGroup data = group_of(plan.traffic[2], machine, machine.all_gpus());
  EXPECT_EQ(data.nodes, 2);
  EXPECT_EQ(data.ranks_per_node(), 2);
  EXPECT_EQ(data.nics.bits_per_s, 2 * 48LL * 8'000'000'000);
}

TEST(GroupOf, SharesANicWithTheOtherGroupOfItsGpus) {
  const Machine& machine = *find_machine("dgx-1v");  // one NIC for every two GPUs
  const StepTraffic data{.ranks = 4, .stride = 8};
  const CommGroup group = group_of(data, machine, machine.all_gpus());
  EXPECT_EQ(group.nodes, 4);
  EXPECT_EQ(group.nics.bits_per_s, nic_rate(machine.nics[0]).bits_per_s / 2);
}

TEST(ExchangeTime, IsThatOfAllExchangesOneAfterTheOther) {
  StepParams params = plain_step(1_s);
  params.exchanges.push_back({.bytes = {100'000'000}, .count = 3, .among = ExchangeGroup::All});
  const StepPlan plan = plan_step(params, 16, 2);
  const Machine& machine = *find_machine("dgx-a100");
  const std::vector<ExchangeTimeParams> known{{.latency = 10_us, .bandwidth = 100_Gbps}};
  const AlphaBeta network{.latency = 10_us, .bandwidth = 100_Gbps};
  EXPECT_EQ(exchange_time(plan, machine, machine.all_gpus(), 1, ExchangeTimes{known}),
            alpha_beta_time(network, Collective::AllReduce, 16, {100'000'000}) * 3);
  const Duration tuned =
      tuned_time(Collective::AllReduce, comm_group(machine, machine.all_gpus(), 2), {100'000'000})
          .time;
  EXPECT_EQ(exchange_time(plan, machine, machine.all_gpus()), tuned * 3);
}

TEST(PollingFactor, ShowsOnSeveralNodesOnly) {
  PollingParams params;
  EXPECT_DOUBLE_EQ(polling_factor(params, 1, 1), 1);
  EXPECT_DOUBLE_EQ(polling_factor(params, 1, 2), 0.25);
  EXPECT_DOUBLE_EQ(polling_factor(params, 4, 2), 1);
  EXPECT_DOUBLE_EQ(polling_factor(params, 8, 2), 1);
  params.exponent = 2;
  EXPECT_DOUBLE_EQ(polling_factor(params, 1, 2), 0.0625);
}

TEST(ExchangeTime, GrowsAsPollingSlowsTheNicsDown) {
  StepParams params = plain_step(1_s);
  params.exchanges.push_back({.bytes = {10'000'000'000}, .among = ExchangeGroup::All});
  const StepPlan plan = plan_step(params, 16, 2);
  const Machine& machine = *find_machine("dgx-a100");
  const double full = exchange_time(plan, machine, machine.all_gpus()).seconds();
  const double quarter = exchange_time(plan, machine, machine.all_gpus(), 0.25).seconds();
  EXPECT_NEAR(quarter / full, 4, 0.05);
}

TEST(StepParams, TakeEitherAModelOrATime) {
  const auto fields = [](const StepParams& params) {
    std::vector<std::string> names;
    for (const StepMistake& mistake : params.mistakes()) names.emplace_back(mistake.field);
    return names;
  };
  StepParams params;
  EXPECT_THAT(fields(params), ElementsAre(""));
  params.compute = 1_s;
  EXPECT_THAT(fields(params), IsEmpty());
  params.model = TransformerParams{};
  EXPECT_THAT(fields(params), ElementsAre(""));
  params = plain_step({});
  params.parallel.pipeline = 2;
  EXPECT_THAT(fields(params), ElementsAre("compute", "parallel"));
}

TEST(StepParams, TellAlgorithmsAndServersThatACollectiveDoesNotHave) {
  const auto complaint = [](const std::string& exchange) {
    const std::vector<std::string> all =
        messages_of("compute: 1s\nexchanges: [{bytes: 1MB, " + exchange + "}]\n");
    return all.empty() ? "" : all.front();
  };
  EXPECT_EQ(complaint("algorithm: nvls"), "");
  EXPECT_EQ(complaint("collective: broadcast, algorithm: ring"), "");
  EXPECT_EQ(complaint("collective: all_to_all, algorithm: hierarchical, stages: pipelined"), "");
  EXPECT_EQ(complaint("collective: push_pull, servers: {count: 2, overlap: true}"), "");
  EXPECT_EQ(complaint("collective: all_gather, algorithm: tree"),
            "step.yaml:2:61: step.exchanges[0].algorithm: there is no tree algorithm for "
            "all_gather");
  EXPECT_THAT(complaint("collective: all_to_all, algorithm: ring"), HasSubstr("no ring algorithm"));
  EXPECT_THAT(complaint("collective: push_pull, servers: {count: 2}, algorithm: ring"),
              HasSubstr("no ring algorithm for push_pull"));
  EXPECT_THAT(complaint("collective: push_pull"), HasSubstr("push_pull needs them"));
  EXPECT_THAT(messages_of("compute: 1s\nparallel: {pipeline: 2, microbatches: 4}\nexchanges: "
                          "[{bytes: 1MB, among: pipeline, collective: push_pull, servers: {count: "
                          "2}}]\n"),
              ElementsAre(HasSubstr("among: push_pull is among all ranks of a group")));
}

TEST(StepParams, TellThatServersAreMoreThanTheirRanks) {
  StepParams params = plain_step(1_s);
  params.exchanges.push_back(
      {.collective = Collective::PushPull, .bytes = 1_MiB, .servers = ServerParams{.count = 8}});
  EXPECT_THAT(params.servers_beyond(8), IsEmpty());
  EXPECT_THAT(params.servers_beyond(1), IsEmpty()) << "a lone rank exchanges nothing";
  ASSERT_EQ(params.servers_beyond(4).size(), 1U);
  EXPECT_EQ(params.servers_beyond(4)[0].field, "exchanges[0].servers.count");
  EXPECT_EQ(params.servers_beyond(4)[0].message,
            "is more than 4, the most servers that 4 ranks can have: each is on a node of its own");
  params.exchanges[0].servers->placement = ServerPlacement::Dedicated;
  EXPECT_EQ(params.servers_beyond(8).size(), 1U);
}

TEST(StepParams, OfJobsThatVaryInSizeMayAskForMoreServersThanAJobHasRanks) {
  StepParams params = plain_step(1_s);
  params.exchanges.push_back(
      {.collective = Collective::PushPull, .bytes = 1_MiB, .servers = ServerParams{.count = 8}});
  EXPECT_EQ(plan_step(params, 2, 1).traffic.size(), 1U);
}

TEST(StepParams, ExchangeNoMoreThanCanBeCounted) {
  EXPECT_THAT(messages_of("compute: 1s\nexchanges: [{bytes: 1GB, count: 1000000000}]\n"),
              IsEmpty());
  const auto is_refused =
      ElementsAre("step.yaml:2:12: step.exchanges: a rank would exchange more than 1 EB in a step");
  EXPECT_THAT(messages_of("compute: 1s\nexchanges: [{bytes: 10GB, count: 1000000000}]\n"),
              is_refused);
  EXPECT_THAT(messages_of("compute: 1s\nexchanges: [{bytes: 1GB, count: 600000000}, "
                          "{bytes: 1GB, count: 600000000}]\n"),
              is_refused);
  EXPECT_THAT(messages_of("model: {hidden: 10000000, sequence: 100000000, batch: 100000000}\n"),
              ElementsAre("step.yaml:1:8: step.model: its ranks would exchange more than 1 EB in a "
                          "step"));
}

TEST(StepParams, TellWhichNumbersOfGpusTheyDoNotFit) {
  const StepParams params = small_model();
  EXPECT_THAT(params.mistakes_for(32), IsEmpty());
  ASSERT_EQ(params.mistakes_for(12).size(), 1U);
  EXPECT_EQ(params.mistakes_for(12)[0].message,
            "12 GPUs cannot be shared out evenly among 8 ranks of tensor x pipeline");
  ASSERT_EQ(params.mistakes_for(24).size(), 1U) << "64 sequences, 3 x 2 at a time";
  StepParams deep = small_model();
  deep.parallel.virtual_stages = 5;
  ASSERT_EQ(deep.mistakes_for(32).size(), 1U);
  EXPECT_EQ(deep.mistakes_for(32)[0].message,
            "24 layers cannot be shared out evenly among 10 shares of pipeline x virtual_stages");
}

TEST(StepParams, PointAtTheMistake) {
  EXPECT_THAT(messages_of("compute: 1s\n"
                          "exchanges:\n  - {collective: push_pull, bytes: 1MB}\n"),
              ElementsAre("step.yaml:3:5: step.exchanges[0].servers: are missing: push_pull needs "
                          "them"));
  EXPECT_THAT(messages_of("compute: 1s\nexchanges:\n  - {bytes: 350MB}\noverlap: 0.5\n"),
              IsEmpty());
}

TEST(TrainingTime, IsWorkOverSpeed) {
  EXPECT_EQ(training_time(1e9, 1e9, false, 1e15), 6000_s);
  EXPECT_EQ(training_time(1e9, 1e9, true, 1e15), 8000_s);
  EXPECT_EQ(checkpoint_bytes(1e9), (Bytes{14'000'000'000}));
}

}  // namespace
}  // namespace orrery

#include "models/network/collectives/exchange_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/hardware/machine_catalogue.hpp"
#include "models/network/collectives/nccl_tuner.hpp"

namespace orrery::exchange_times_test {
namespace {

CommGroup whole_nodes(const std::string& machine, int32_t nodes) {
  const Machine& found = *find_machine(machine);
  return comm_group(found, found.all_gpus(), nodes);
}

LoneExchange alone(AlgorithmChoice algorithm, Collective collective, const CommGroup& group,
                   Bytes bytes = 1_GiB) {
  return ExchangeTimes{}.alone(collective, {.algorithm = algorithm}, group, bytes);
}

TEST(ExchangeTimes, TakeTheTunersChoiceForThePatternToo) {
  const CommGroup group = whole_nodes("dgx-a100", 16);
  for (const Bytes bytes : {Bytes{64}, 16_GiB}) {
    const TunedTime fastest = tuned_time(Collective::AllReduce, group, bytes);
    const LoneExchange lone = alone(AlgorithmChoice::Auto, Collective::AllReduce, group, bytes);
    EXPECT_EQ(lone.time, fastest.time);
    EXPECT_EQ(lone.pattern == Pattern::Tree, fastest.candidate.algorithm == Algorithm::Tree);
    EXPECT_EQ(lone.pattern, bytes == 16_GiB ? Pattern::Ring : Pattern::Tree);
  }
  EXPECT_EQ(alone(AlgorithmChoice::Auto, Collective::AllToAll, group).pattern, Pattern::Direct);
  EXPECT_EQ(alone(AlgorithmChoice::Auto, Collective::PointToPoint, group).pattern, Pattern::Ring);
}

TEST(ExchangeTimes, FollowAnAlgorithmThatIsFixed) {
  const CommGroup group = whole_nodes("hgx-h100", 4);
  const auto of = [&](AlgorithmChoice choice) {
    return alone(choice, Collective::AllReduce, group);
  };
  using enum AlgorithmChoice;
  EXPECT_EQ(of(Ring).pattern, Pattern::Ring);
  EXPECT_EQ(of(Tree).pattern, Pattern::Tree);
  EXPECT_EQ(of(Nvls).pattern, Pattern::Tree);
  EXPECT_EQ(of(Hierarchical).pattern, Pattern::Rails);
  EXPECT_EQ(of(Tree).time, tuned_time(Algorithm::Tree, Collective::AllReduce, group, 1_GiB)->time);
  EXPECT_EQ(of(Nvls).time,
            tuned_time(Algorithm::NvlsTree, Collective::AllReduce, group, 1_GiB)->time);
  EXPECT_EQ(of(Hierarchical).time,
            hierarchical_time(Collective::AllReduce, group, 1_GiB, Stages::Serial));
  for (const AlgorithmChoice choice : {Ring, Tree, Nvls}) {
    EXPECT_LE(of(Auto).time, of(choice).time);
  }
}

TEST(ExchangeTimes, WithoutSwitchesThatAddUpTakeNcclsChoiceForNvls) {
  const CommGroup group = whole_nodes("dgx-a100", 4);
  const LoneExchange lone = alone(AlgorithmChoice::Nvls, Collective::AllReduce, group);
  EXPECT_EQ(lone.time, tuned_time(Collective::AllReduce, group, 1_GiB).time);
}

TEST(ExchangeTimes, OfPushPullAddUpInTheNodesBefore) {
  const CommGroup group = whole_nodes("dgx-a100", 4), node = whole_nodes("dgx-a100", 1);
  const ExchangeMethod method{.servers = ServerParams{.count = 2}};
  const LoneExchange lone = ExchangeTimes{}.alone(Collective::PushPull, method, group, 1_GiB);
  const Duration outside =
      push_pull_time({.workers = 4, .servers = 2, .rate = group.nics, .is_colocated = true}, 1_GiB);
  EXPECT_EQ(lone.pattern, Pattern::Direct);
  EXPECT_NEAR(lone.time.seconds(),
              (tuned_time(Collective::AllReduce, node, 1_GiB).time + outside).seconds(), 1e-4);
  EXPECT_NEAR(ExchangeTimes{}.alone(Collective::PushPull, method, node, 1_GiB).time.seconds(),
              tuned_time(Collective::AllReduce, node, 1_GiB).time.seconds(), 1e-9)
      << "on one node there is nobody to push to";
}

// The known times are those of nodes with 8 GPUs and 8 NICs. A gang that uses only some GPUs
// of its nodes also uses fewer NICs.
TEST(ExchangeTimes, OfASweepAreThoseOfTheGpusThatTakePart) {
  const std::vector<ExchangeTimeParams> known{
      {.sweep = {{{1'000'000}, 40_Gbps}, {{100'000'000}, 800_Gbps}}},
      {.collective = Collective::AllToAll, .latency = 100_us, .bandwidth = 80_Gbps}};
  const ExchangeTimes times{known};
  const Machine& machine = *find_machine("dgx-a100");
  const auto seconds = [&](Collective collective, GpuMask gpus, Bytes bytes, double factor = 1) {
    CommGroup group = comm_group(machine, gpus, 2);
    group.nics.bits_per_s = std::llround(static_cast<double>(group.nics.bits_per_s) * factor);
    return times.alone(collective, {}, group, bytes).time.seconds();
  };
  EXPECT_NEAR(seconds(Collective::AllReduce, 0xff, {100'000'000}), 30.0 / 16 * 1e-3, 1e-8);
  EXPECT_NEAR(seconds(Collective::AllReduce, 0x0f, {100'000'000}), 2 * 14.0 / 8 * 1e-3, 1e-8)
      << "half of the NICs";
  EXPECT_NEAR(seconds(Collective::AllReduce, 0xff, {100'000'000}, 0.25), 4 * 30.0 / 16 * 1e-3, 1e-8)
      << "polling is slow";
  const double whole = seconds(Collective::AllToAll, 0xff, {100'000'000});
  EXPECT_NEAR(whole, 15.0 / 16 * 1e-2 + 1e-4, 1e-8);
  EXPECT_NEAR(seconds(Collective::AllToAll, 0x01, {100'000'000}), 1.0 / 2 * 1e-2 + 1e-4, 1e-8)
      << "a rank has a NIC of its own, as it had among the others";
  const CommGroup node = whole_nodes("dgx-a100", 1);
  EXPECT_EQ(times.alone(Collective::AllReduce, {}, node, 1_GiB).time,
            tuned_time(Collective::AllReduce, node, 1_GiB).time)
      << "nothing is known of one node";
}

}  // namespace
}  // namespace orrery::exchange_times_test

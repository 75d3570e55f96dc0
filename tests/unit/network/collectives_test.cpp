#include "models/network/collectives/collectives.hpp"

#include <gtest/gtest.h>

#include "models/hardware/machine_catalogue.hpp"
#include "models/hardware/machine_topology.hpp"
#include "models/network/collectives/nccl_tuner.hpp"

namespace orrery {
namespace {

CommGroup whole_nodes(std::string_view machine, int32_t nodes) {
  const Machine& found = *find_machine(machine);
  return comm_group(found, found.all_gpus(), nodes);
}

double microseconds(Duration time) { return time.seconds() * 1e6; }

double latency_us(Algorithm algorithm, Protocol protocol, const CommGroup& group) {
  return microseconds(*candidate_time({algorithm, protocol}, Collective::AllReduce, group, {}));
}

TEST(BusFactor, IsTheShareOfTheBufferThatARankSends) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::AllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::AllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::ReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::AllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::Broadcast, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::AllReduce, 1), 0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::Broadcast, 1), 0);
  EXPECT_EQ(bus_bandwidth(Collective::AllReduce, 2, 125_MiB, 1_s),
            (Bandwidth{125LL * 1024 * 1024 * 8}));
}

TEST(CommGroup, TakesItsRatesFromTheMachine) {
  const CommGroup one = whole_nodes("dgx-a100", 1);
  EXPECT_EQ(one.ranks, 8);
  EXPECT_EQ(one.ring, (Bandwidth{240LL * 8'000'000'000}));
  EXPECT_EQ(one.nics, Bandwidth{});
  EXPECT_EQ(one.cpu, CpuVendor::Amd);
  EXPECT_TRUE(one.is_nvlinked);
  EXPECT_TRUE(one.has_ll128);
  EXPECT_FALSE(one.has_nvls) << "A100's switches do not add up";
  const CommGroup four = whole_nodes("hgx-h100", 4);
  EXPECT_EQ(four.ranks, 32);
  EXPECT_EQ(four.nics, (Bandwidth{8 * 48LL * 8'000'000'000}));
  EXPECT_EQ(four.channels, 18);
  EXPECT_TRUE(four.has_nvls);
}

TEST(CommGroup, CountsANicThatGpusShareOnce) {
  const Machine& machine = *find_machine("dgx-1v");  // one NIC for every two GPUs
  EXPECT_EQ(comm_group(machine, 0b0011, 2).nics, nic_rate(machine.nics[0]));
  EXPECT_EQ(comm_group(machine, 0b0101, 2).nics.bits_per_s,
            2 * nic_rate(machine.nics[0]).bits_per_s);
}

TEST(CommGroup, OfOneGpuANodeKnowsOnlyTheNics) {
  const CommGroup group = comm_group(*find_machine("hgx-h100"), 0b1, 4);
  EXPECT_EQ(group.ring, Bandwidth{});
  EXPECT_EQ(ring_bus_bandwidth(group), group.nics);
  EXPECT_FALSE(group.has_nvls);
}

TEST(NcclTuner, LatencyOfARingIsLinearInRanksAndOfATreeLogarithmicInNodes) {
  const auto ring = [](int32_t nodes) {
    return latency_us(Algorithm::Ring, Protocol::LowLatency, whole_nodes("hgx-h100", nodes));
  };
  // A ring of n = 32 ranks on N = 4 nodes has a base latency of 6.6 us. It makes 2 (n - N) steps
  // inside nodes, of 1 us each (the time to post a step), and 2 (N - 1) steps of 2.7 us between
  // nodes.
  EXPECT_NEAR(ring(4), 6.6 + 2 * 28 * 1.0 + 2 * 3 * 2.7, 1e-3);
  EXPECT_NEAR(ring(64) - ring(32), 2 * (ring(32) - ring(16)), 1e-2);
  const auto tree = [](int32_t nodes) {
    return latency_us(Algorithm::Tree, Protocol::LowLatency, whole_nodes("hgx-h100", nodes));
  };
  EXPECT_NEAR(tree(4), 6.8 + 2 * (7 * 0.6 + 2 * 5.0), 1e-3);
  EXPECT_NEAR(tree(64) - tree(32), tree(32) - tree(16), 1e-3);
}

TEST(NcclTuner, TakesTreesForSmallBuffersAndRingsForLargeOnes) {
  const CommGroup group = whole_nodes("dgx-a100", 16);
  const TunedTime small = tuned_time(Collective::AllReduce, group, 64_B);
  EXPECT_EQ(small.candidate, (Candidate{Algorithm::Tree, Protocol::LowLatency}));
  const TunedTime large = tuned_time(Collective::AllReduce, group, 16_GiB);
  EXPECT_EQ(large.candidate, (Candidate{Algorithm::Ring, Protocol::Simple}));
}

TEST(NcclTuner, TimeGrowsWithTheBufferButForTheJumpsOfTreeTables) {
  const CommGroup group = whole_nodes("hgx-h100", 4);
  Duration before{};
  for (int64_t bytes = 1; bytes <= (int64_t{1} << 36); bytes *= 4) {
    const Duration time = tuned_time(Collective::AllGather, group, {bytes}).time;
    EXPECT_GE(time, before) << bytes;
    before = time;
  }
}

TEST(NcclTuner, OffersOnlyWhatNcclHas) {
  const CommGroup a100 = whole_nodes("dgx-a100", 2), h100 = whole_nodes("hgx-h100", 2);
  const auto is_offered = [](Candidate candidate, Collective collective, const CommGroup& group) {
    return candidate_time(candidate, collective, group, 1_MiB).has_value();
  };
  using enum Collective;
  EXPECT_FALSE(is_offered({Algorithm::NvlsTree, Protocol::Simple}, AllReduce, a100));
  EXPECT_TRUE(is_offered({Algorithm::NvlsTree, Protocol::Simple}, AllReduce, h100));
  EXPECT_FALSE(is_offered({Algorithm::NvlsTree, Protocol::LowLatency}, AllReduce, h100));
  EXPECT_FALSE(is_offered({Algorithm::Nvls, Protocol::Simple}, AllReduce, h100));
  EXPECT_FALSE(is_offered({Algorithm::Tree, Protocol::Simple}, AllGather, h100));
  EXPECT_FALSE(is_offered({Algorithm::Ring, Protocol::Simple}, AllToAll, h100));
  EXPECT_TRUE(is_offered({Algorithm::Direct, Protocol::Simple}, AllToAll, h100));
  CommGroup sums = h100;
  sums.has_net_sums = true;
  EXPECT_TRUE(is_offered({Algorithm::Nvls, Protocol::Simple}, AllReduce, sums));
  const CommGroup plain = whole_nodes("t4-4", 1);
  EXPECT_FALSE(is_offered({Algorithm::Ring, Protocol::LowLatency128}, AllReduce, plain));
}

TEST(NcclTuner, OneRankNeedsNoTime) {
  const CommGroup group = comm_group(*find_machine("hgx-h100"), 0b1, 1);
  EXPECT_EQ(tuned_time(Collective::AllReduce, group, 1_GiB).time, Duration{});
  EXPECT_EQ(tuned_time(Collective::AllToAll, group, 1_GiB).time, Duration{});
}

TEST(NcclTuner, WithoutANicSeveralNodesTakeForEver) {
  Machine machine = *find_machine("t4-4");
  machine.nics.clear();
  const CommGroup group = comm_group(machine, machine.all_gpus(), 2);
  EXPECT_EQ(tuned_time(Collective::AllReduce, group, 1_GiB).time, Duration::max());
}

// In an all-to-all of S bytes among n ranks, each rank sends S / n to every other rank. With 32
// ranks on 4 nodes, 24 of these parts leave the node through the rank's NIC. With 8 ranks on one
// node, all 7 parts stay in the node.
TEST(DirectTime, OfAnAllToAllIsThatOfTheSlowerKindOfLink) {
  const CommGroup group = whole_nodes("hgx-h100", 4);
  const double outside = 24.0 / 32 * 1e9 / 48e9;
  EXPECT_NEAR(direct_time(Collective::AllToAll, group, {1'000'000'000}).seconds(),
              outside + 22.4e-6, 1e-8);
  const double inside = 7.0 / 8 * 1e9 / 370.8e9;
  EXPECT_NEAR(
      direct_time(Collective::AllToAll, whole_nodes("hgx-h100", 1), {1'000'000'000}).seconds(),
      inside + 11.8e-6, 1e-8);
}

TEST(DirectTime, OfOneToOneIsTheBufferAtItsOwnNic) {
  const CommGroup group = comm_group(*find_machine("hgx-h100"), 0b1, 2);
  EXPECT_NEAR(direct_time(Collective::PointToPoint, group, {48'000'000}).seconds(), 1e-3 + 22.4e-6,
              1e-8);
}

TEST(HierarchicalTime, PipelinedIsNeverSlowerThanSerial) {
  const CommGroup group = whole_nodes("dgx-a100", 16);
  for (const Collective collective : {Collective::AllReduce, Collective::AllGather,
                                      Collective::ReduceScatter, Collective::AllToAll}) {
    EXPECT_LE(hierarchical_time(collective, group, 1_GiB, Stages::Pipelined),
              hierarchical_time(collective, group, 1_GiB, Stages::Serial));
  }
}

// An all-reduce consists of a reduce-scatter and an all-gather, which are launched together.
TEST(HierarchicalTime, OfAnAllReduceIsTwiceThatOfAnAllGatherButForOneLaunch) {
  const CommGroup group = whole_nodes("hgx-h100", 4);
  const double all =
      hierarchical_time(Collective::AllReduce, group, 1_GiB, Stages::Serial).seconds();
  const double half =
      hierarchical_time(Collective::AllGather, group, 1_GiB, Stages::Serial).seconds();
  EXPECT_NEAR(all, 2 * half - 8.4e-6, 1e-8);
}

// With a server beside each worker, push and pull move as many bytes as a ring.
TEST(PushPull, WithAServerBesideEveryWorkerMovesWhatARingDoes) {
  const ParameterServers servers{
      .workers = 8, .servers = 8, .rate = 100_Gbps, .is_colocated = true, .is_overlapped = false};
  const double ring = bus_factor(Collective::AllReduce, 8) * 1e9 * 8 / 100e9;
  EXPECT_NEAR(push_pull_time(servers, {1'000'000'000}).seconds(), ring + 2 * 22.4e-6, 1e-8);
}

TEST(PushPull, WithFewServersIsHeldToTheirNicsAndWithManyToTheWorkers) {
  const auto seconds = [](int32_t workers, int32_t servers) {
    return push_pull_time({.workers = workers,
                           .servers = servers,
                           .rate = 10_Gbps,
                           .is_colocated = false,
                           .is_overlapped = true},
                          {1'250'000'000})
        .seconds();
  };
  EXPECT_NEAR(seconds(8, 2), 4, 1e-3);
  EXPECT_NEAR(seconds(8, 4), 2, 1e-3);
  EXPECT_NEAR(seconds(8, 32), 1, 1e-3);
}

// With a server beside every worker, pushes load both directions of a NIC evenly, and so do pulls.
// So their overlap saves only a latency. With one server, the overlap halves the time: the server's
// NIC receives the pushes of the 7 workers on other nodes while it sends their pulls.
TEST(PushPull, BesideTheWorkersGainsLittleByOverlap) {
  ParameterServers servers{.workers = 8, .servers = 8, .rate = 10_Gbps, .is_colocated = true};
  const double serial = push_pull_time(servers, {1'250'000'000}).seconds();
  servers.is_overlapped = true;
  EXPECT_NEAR(push_pull_time(servers, {1'250'000'000}).seconds(), serial - 22.4e-6, 1e-8);
  servers.servers = 1;
  EXPECT_NEAR(push_pull_time(servers, {1'250'000'000}).seconds(), 7, 1e-3);
}

TEST(AlphaBeta, IsLatencyAndBusBandwidth) {
  const AlphaBeta network{.latency = 1_ms, .bandwidth = 80_Gbps};
  EXPECT_EQ(alpha_beta_time(network, Collective::AllReduce, 2, {10'000'000}), 2_ms);
  EXPECT_EQ(alpha_beta_time(network, Collective::AllReduce, 1, {10'000'000}), Duration{});
}

TEST(MeasuredTime, FollowsTheSweepAndItsEnds) {
  const std::vector<BusPoint> sweep{{{1'000'000}, {80'000'000'000}},
                                    {{16'000'000}, {400'000'000'000}}};
  const auto gigabytes_per_s = [&](int64_t bytes) {
    const Duration time = measured_time(sweep, Collective::Broadcast, 8, {bytes});
    return static_cast<double>(bytes) / time.seconds() / 1e9;
  };
  EXPECT_NEAR(gigabytes_per_s(1'000'000), 10, 1e-2);
  EXPECT_NEAR(gigabytes_per_s(4'000'000), 30, 1e-2) << "half way in the logarithm";
  EXPECT_NEAR(gigabytes_per_s(16'000'000), 50, 1e-2);
  EXPECT_NEAR(gigabytes_per_s(160'000'000), 50, 1e-2);
  EXPECT_EQ(measured_time(sweep, Collective::Broadcast, 8, {1}), 100_us);
  EXPECT_EQ(measured_time(sweep, Collective::Broadcast, 1, {1}), Duration{});
}

}  // namespace
}  // namespace orrery

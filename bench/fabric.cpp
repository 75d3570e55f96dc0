// bench/fabric.cpp -- the time to build a fat tree, and routes per second, by the number of NICs.
//
//   bench_fabric [ROUTES]     ROUTES: routes for each size and engine (default: 1 million);
//                             for adaptive engines a twentieth of ROUTES
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/support/world.hpp"
#include "models/network/fabric/build_fabric.hpp"
#include "models/network/fabric/link_state.hpp"
#include "models/network/routing/routing.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/rng.hpp"

namespace orrery::bench {
namespace {

constexpr int kRepetitions = 3;  // the fastest repetition is reported
constexpr uint32_t kNicsPerNode = 8, kNodesPerLeaf = 32;

struct Size {
  uint32_t nodes;
  int32_t radix;
};
// 7,500 nodes is the size of OpenAI's cluster of 2021. Three levels of switches with 64 ports
// connect at most 65,536 NICs, so larger sizes have switches with more ports.
constexpr Size kSizes[] = {{64, 64},    {512, 64},     {2'048, 64},
                           {7'500, 64}, {12'512, 128}, {125'024, 256}};

std::vector<FabricNode> nodes_of(const Size& size) {
  std::vector<FabricNode> nodes;
  for (uint32_t n = 0; n < size.nodes; ++n) {
    nodes.push_back({.group = n / kNodesPerLeaf, .nics = kNicsPerNode, .nic_rate = 400_Gbps});
  }
  return nodes;
}

// Number of routes found per microsecond of CPU time, each between two random NICs. With an
// adaptive engine each route adds to the loads of its links.
double routes_per_us(const Fabric& fabric, const LinkState& state, RoutingEngine engine,
                     int64_t routes) {
  double least = 1e30;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    std::vector<double> loads(fabric.links(), 0.0);
    Router router{fabric, state, {engine}, 1};
    router.watch_loads(loads);
    Rng rng{1};
    size_t links = 0;
    const double start = cpu_seconds();
    for (int64_t i = 0; i < routes; ++i) {
      const NicId from{static_cast<uint32_t>(rng.below(fabric.nics()))};
      const NicId to{static_cast<uint32_t>(rng.below(fabric.nics()))};
      const Route route = router.route(from, to, static_cast<uint32_t>(i));
      links += route.size();
      if (!is_adaptive(engine)) continue;
      for (const LinkId link : route) loads[link.index] += 1;
    }
    least = std::min(least, cpu_seconds() - start);
    if (links == 0) std::abort();
  }
  return static_cast<double>(routes) / least / 1e6;
}

void measure(const Size& size, int64_t routes) {
  const std::vector<FabricNode> nodes = nodes_of(size);
  double build_s = 1e30;
  BuiltFabric built;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const double start = cpu_seconds();
    FabricParams params;
    params.radix = size.radix;
    built = build_fabric(params, nodes);
    build_s = std::min(build_s, cpu_seconds() - start);
  }
  if (!built.mistakes.empty()) {
    std::printf("%s\n", built.mistakes.front().message.c_str());
    return;
  }
  const Fabric& fabric = built.fabric;
  const LinkState state{fabric, {}};
  std::printf("| %9zu | %5d | %6u | %9u | %8.2f | %6.1f |", fabric.nics(), size.radix,
              fabric.tree().levels, fabric.links(), 1e3 * build_s,
              static_cast<double>(fabric.memory_bytes() + state.memory_bytes()) / 1e6);
  for (size_t e = 0; e < enum_names(RoutingEngine{}).size(); ++e) {
    const auto engine = static_cast<RoutingEngine>(e);
    std::printf(" %8.2f |",
                routes_per_us(fabric, state, engine, is_adaptive(engine) ? routes / 20 : routes));
    std::fflush(stdout);
  }
  std::printf("\n");
}

void measure_all(int64_t routes) {
  std::printf("Routes in millions per CPU second.\n\n");
  std::printf("|      NICs | radix | levels |     links | build ms |     MB |");
  for (const auto name : enum_names(RoutingEngine{})) {
    std::printf(" %.*s |", static_cast<int>(name.size()), name.data());
  }
  std::printf("\n");
  for (const Size& size : kSizes) measure(size, routes);
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  orrery::bench::measure_all(argc > 1 ? std::atoll(argv[1]) : 1'000'000);
}

// tests/support/sharing_world.hpp -- random gangs on a tree of thin links. The mean times of their
// steps are computed by SharedLinks, or measured in a simulation of every step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "models/network/sharing/flow_network.hpp"
#include "models/workload/steps/shared_links.hpp"
#include "models/workload/steps/step_tracer.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"

namespace orrery::test {

// Random gangs that share links. Each gang is a ring over two to eight random nodes, which no other
// gang uses. The up-links of a leaf have two, four or eight times less bandwidth than its nodes
// together. The compute of two gangs' steps differs by up to a factor of 30. Without contention an
// exchange takes 7 to 86 % of the time of the compute. In half of the gangs up to half of the
// compute overlaps with the exchange.
struct SharingWorld {
  std::vector<double> capacities;  // bits a second, by link
  std::vector<SharingGang> gangs;

  SharingWorld(uint32_t count, uint64_t seed) {
    Rng rng{seed};
    std::vector<uint32_t> sizes;
    for (uint32_t g = 0; g < count; ++g) sizes.push_back(2 + static_cast<uint32_t>(rng.below(7)));
    const uint32_t nodes = std::accumulate(sizes.begin(), sizes.end(), 0U);
    const uint32_t per_leaf = 4U << rng.below(3), leaves = (nodes + per_leaf - 1) / per_leaf;
    const double thin = static_cast<double>(2U << rng.below(3));
    capacities.assign(2 * nodes, kNic);
    capacities.insert(capacities.end(), 2 * leaves, kNic * per_leaf / thin);
    std::vector<uint32_t> order(nodes);
    std::iota(order.begin(), order.end(), 0U);
    for (uint32_t i = nodes; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    auto next = order.begin();
    for (const uint32_t size : sizes) {
      std::vector<uint32_t> own{next, next + size};
      next += size;
      std::ranges::sort(own);
      gangs.push_back(random_gang(rng, ring(own, nodes, per_leaf)));
    }
  }

  // Mean seconds of each gang's step, as SharedLinks computes them.
  std::vector<double> by_rate(size_t rehearsed_max = SharedLinks::kRehearsedMax) const {
    Engine engine;
    FlowNetwork flows{engine};
    add_links(flows);
    SharedLinks links{engine, flows, rehearsed_max};
    for (uint32_t g = 0; g < gangs.size(); ++g) links.set({g}, gangs[g]);
    engine.run();
    std::vector<double> steps;
    for (uint32_t g = 0; g < gangs.size(); ++g) steps.push_back(links.step({g}).length.seconds());
    return steps;
  }
  // Mean seconds of each gang's step, by simulation of every step. Gangs begin at random phases. A
  // warm-up, at least 20 steps of each gang, is left out. Each mean covers at least `steps` steps
  // after the warm-up.
  std::vector<double> step_by_step(int64_t steps, uint64_t seed) const {
    Engine engine;
    FlowNetwork flows{engine};
    add_links(flows);
    StepTracer tracer{engine, &flows};
    struct Mark {
      int64_t steps = 0;
      Time end{};
    };
    std::vector<Mark> now(gangs.size());
    tracer.step_done.connect([&](JobId gang) {
      now[gang.index] = {now[gang.index].steps + 1, engine.now()};
    });
    Rng rng{seed};
    for (uint32_t g = 0; g < gangs.size(); ++g) {
      const SharingGang& gang = gangs[g];
      StepActivity activity;
      activity.bytes = gang.bytes;
      activity.rate_max = {std::llround(gang.rate_max)};
      activity.fabric.uses = gang.uses;
      activity.fabric.is_connected = true;
      tracer.begin({g}, gang.cycle, activity, Duration::max(),
                   nearest_ns(alone(gang) * rng.uniform()));
    }
    const auto play = [&](int64_t more) {
      const int64_t goal = std::ranges::min(now, {}, &Mark::steps).steps + more;
      while (std::ranges::min(now, {}, &Mark::steps).steps < goal) {
        for (int i = 0; i < 1000; ++i) engine.step();
      }
    };
    play(20);
    const std::vector<Mark> from = now;
    play(steps);
    std::vector<double> means;
    for (size_t g = 0; g < gangs.size(); ++g) {
      means.push_back((now[g].end - from[g].end).seconds() /
                      static_cast<double>(now[g].steps - from[g].steps));
    }
    return means;
  }
  static double alone(const SharingGang& gang) { return gang.cycle.length(gang.alone()).seconds(); }

 private:
  static constexpr double kNic = 2e11;

  void add_links(FlowNetwork& flows) const {
    for (const double capacity : capacities) flows.add_link({std::llround(capacity)});
  }
  static std::vector<LinkUse> ring(std::span<const uint32_t> own, uint32_t nodes,
                                   uint32_t per_leaf) {
    std::map<uint32_t, double> weights;
    for (size_t i = 0; i < own.size(); ++i) {
      const uint32_t from = own[i], to = own[(i + 1) % own.size()];
      weights[2 * from] += 1;
      weights[2 * to + 1] += 1;
      const uint32_t leaf = from / per_leaf, other = to / per_leaf;
      if (leaf == other) continue;
      weights[2 * (nodes + leaf)] += 1;
      weights[2 * (nodes + other) + 1] += 1;
    }
    std::vector<LinkUse> uses;
    for (const auto& [link, weight] : weights) uses.push_back({{link}, weight});
    return uses;
  }
  SharingGang random_gang(Rng& rng, std::vector<LinkUse> uses) const {
    const double heaviest = std::ranges::max(uses, {}, &LinkUse::weight).weight;
    double rate = kNic;
    for (LinkUse& use : uses) {
      use.weight /= heaviest;
      rate = std::min(rate, capacities[use.link.index] / use.weight);
    }
    const double compute = 0.01 * std::pow(30, rng.uniform());
    const double exchange = compute * std::pow(12, rng.uniform()) * 0.05 / 0.7;
    SharingGang gang{.cycle = {.compute = nearest_ns(compute), .working = nearest_ns(compute)},
                     .bytes = {std::llround(exchange * rate / 8)},
                     .rate_max = rate,
                     .uses = std::move(uses)};
    if (rng.chance(0.5)) gang.cycle.overlap = nearest_ns(compute * rng.uniform() / 2);
    return gang;
  }
};

}  // namespace orrery::test

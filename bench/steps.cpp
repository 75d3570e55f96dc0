// bench/steps.cpp -- step durations of gangs that share links: as SharedLinks computes them
// (`rate`), compared with simulation of every step (`traced`). Then the CPU time of SharedLinks
// when a gang ends or begins. See README.md.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

#include "tests/support/sharing_world.hpp"
#include "tests/support/step_errors.hpp"

namespace orrery::bench {
namespace {

using test::quantile_of;
using test::SharingWorld;
using test::StepErrors;

double ms_of(auto&& work) {  // CPU time in ms
  const std::clock_t begin = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Compares the mean step durations of `steps: rate` with those of `steps: traced`, in random worlds
// of `least` to `most` gangs.
void compare(uint32_t least, uint32_t most, uint64_t worlds) {
  std::vector<double> sizes, means;
  double rate_ms = 0, traced_ms = 0, gangs = 0, slower = 0;
  for (uint64_t seed = 1; seed <= worlds; ++seed) {
    Rng rng{seed + 1000};
    const auto count = static_cast<uint32_t>(least + rng.below(most - least + 1));
    const SharingWorld world{count, seed};
    std::vector<double> rate, traced;
    rate_ms += ms_of([&] { rate = world.by_rate(); });
    traced_ms += ms_of([&] { traced = world.step_by_step(100, seed); });
    const StepErrors errors{rate, traced};
    sizes.insert(sizes.end(), errors.sizes.begin(), errors.sizes.end());
    means.push_back(std::abs(errors.mean));
    for (size_t g = 0; g < count; ++g) {
      slower += traced[g] / SharingWorld::alone(world.gangs[g]) - 1;
    }
    gangs += count;
  }
  std::ranges::sort(sizes);
  std::printf("| %4u - %4u | %6llu | %+9.1f | %10.2f | %9.2f | %9.2f | %9.2f | %8.1f | %9.1f |\n",
              least, most, static_cast<unsigned long long>(worlds), 100 * slower / gangs,
              100 * *std::ranges::max_element(means), 100 * quantile_of(sizes, 0.5),
              100 * quantile_of(sizes, 0.95), 100 * sizes.back(), rate_ms / gangs,
              traced_ms / gangs);
}

// SharedLinks has two methods to find the rates of gangs: it computes expected rates or, for at
// most 16 gangs, rehearses (simulates) some of their steps. Compares both methods for 16 gangs.
void measure_seam(uint64_t worlds) {
  double mean = 0;
  std::vector<double> sizes;
  for (uint64_t seed = 1; seed <= worlds; ++seed) {
    const SharingWorld world{16, seed};
    const StepErrors errors{world.by_rate(1), world.by_rate(16)};
    mean += errors.mean / static_cast<double>(worlds);
    sizes.insert(sizes.end(), errors.sizes.begin(), errors.sizes.end());
  }
  std::ranges::sort(sizes);
  std::printf(
      "16 gangs by expected rates against rehearsed: %+.2f %% in the mean, 95 of 100 within "
      "%.2f %%\n",
      100 * mean, 100 * quantile_of(sizes, 0.95));
}

// Measures the cost of a change: one of `gangs` gangs ends, or begins again.
void measure_changes(uint32_t gangs) {
  const SharingWorld world{gangs, 7};
  Engine engine;
  FlowNetwork flows{engine};
  for (const double capacity : world.capacities) flows.add_link({std::llround(capacity)});
  SharedLinks links{engine, flows};
  for (uint32_t g = 0; g < gangs; ++g) links.set({g}, world.gangs[g]);
  engine.run();
  constexpr uint32_t kChanges = 500;
  Rng rng{1};
  const double ms = ms_of([&] {
    for (uint32_t i = 0; i < kChanges; ++i) {
      const auto g = static_cast<uint32_t>(rng.below(gangs));
      links.remove({g});
      engine.run();
      links.set({g}, world.gangs[g]);
      engine.run();
    }
  });
  std::printf("| %6u | %11.1f |\n", gangs, ms * 1e3 / (2 * kChanges));
}

}  // namespace
}  // namespace orrery::bench

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf(
      "| gangs       | worlds | slower %% | world mean |  median %% |      95 %% |     worst "
      "| rate ms  | traced ms |\n");
  std::printf(
      "|-------------|-------:|---------:|-----------:|----------:|----------:|----------:"
      "|---------:|----------:|\n");
  orrery::bench::compare(1, 1, 20);
  orrery::bench::compare(2, 16, 300);
  orrery::bench::compare(17, 200, 30);
  orrery::bench::compare(1000, 1000, 3);
  orrery::bench::measure_seam(50);
  std::printf("\n| gangs  | us a change |\n|-------:|------------:|\n");
  for (const uint32_t gangs : {4U, 16U, 100U, 400U, 1600U}) {
    orrery::bench::measure_changes(gangs);
  }
}

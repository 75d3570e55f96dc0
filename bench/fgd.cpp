// bench/fgd.cpp -- one run of FGD's experiment over Alibaba's openb list, as scenarios/fgd-openb.yaml
// has it, and what a bare loop over the same pods and nodes takes; then jobs through a pool.
//
//   bench_fgd     from the project's folder, beside which the traces are
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/support/jobs.hpp"
#include "bench/support/world.hpp"
#include "sim/config/overrides.hpp"

namespace orrery::bench {
namespace {

constexpr const char* kScenario = ORRERY_SOURCE_DIR "/scenarios/fgd-openb.yaml";
constexpr const char* kTrace = ORRERY_SOURCE_DIR "/../shared/traces/alibaba-gpu-v2023-openb";

struct Run {
  double build = 0, run = 0;  // CPU seconds: reading lists and wiring; simulating
  uint64_t pods = 0;
};

Run run_once(const std::string& policy, int64_t seed) {
  Diagnostics diagnostics;
  config::Document document = config::load_file(kScenario, diagnostics);
  std::vector<std::string> sets = {"policy.plugins[4].name=" + policy,
                                   "run.seed=" + std::to_string(seed)};
  if (policy == "Random") sets.emplace_back("policy.plugins[3].args.strategy=random");
  for (const std::string& set : sets) config::apply_override(document, set, diagnostics);
  const double began = cpu_seconds();
  World world{document, diagnostics};
  const double built = cpu_seconds();
  world.start();
  while (world.advance(1'000'000)) {
  }
  return {.build = built - began,
          .run = cpu_seconds() - built,
          .pods = world.cluster().scheduler().counters().attempts};
}

}  // namespace
}  // namespace orrery::bench

int main() { }

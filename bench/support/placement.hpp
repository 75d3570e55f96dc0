// bench/support/placement.hpp -- job mixes and policies for nodes with 8 GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/support/jobs.hpp"

namespace orrery::bench {

struct Profile {
  const char* name;
  const char* yaml;  // the section `policy` of a scenario
  bool has_typical_pods = false;
};
struct Mix {
  const char* name;
  std::span<const Kind> kinds;
  double load;  // demand, as a share of all GPUs
};
std::span<const Mix> mixes();

constexpr int64_t kGpusPerNode = 8;
struct Churn {
  int64_t nodes = 7'500;
  const Mix* mix = nullptr;
  int64_t waiting = 0;
  int64_t jobs = 200'000;
};
std::vector<Batch> batches_of(const Churn& churn);
std::string scenario_of(const Profile& profile, const Churn& churn);
std::string scenario_of(const Profile& profile, int64_t nodes, std::span<const Batch> batches);

}  // namespace orrery::bench

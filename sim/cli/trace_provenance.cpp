#include "sim/cli/trace_provenance.hpp"

#include <algorithm>

#include "models/workload/traces/io/sha256.hpp"

namespace orrery {

std::string hash_of(const std::string& file) {
  return traces::sha256_of_file(file).value_or("unknown");
}

std::vector<TraceFact> as_lines(std::vector<TraceFact> facts) {
  for (auto& [key, value] : facts) {
    std::ranges::replace(key, '\n', ' ');
    std::ranges::replace(value, '\n', ' ');
  }
  return facts;
}

}  // namespace orrery

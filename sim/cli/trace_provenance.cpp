#include "sim/cli/trace_provenance.hpp"

#include <algorithm>

#include "models/workload/traces/io/sha256.hpp"

namespace orrery {

std::string hash_of(const std::string& file) {
  return traces::sha256_of_file(file).value_or("unknown");
}

std::vector<Fact> as_lines(std::vector<Fact> facts) {
  for (auto& [key, value] : facts) {
    std::ranges::replace(key, '\n', ' ');
    std::ranges::replace(value, '\n', ' ');
  }
  return facts;
}

}  // namespace orrery

// sim/cli/study/doubts.hpp -- why pairs of runs cannot support a claim about their difference.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/study/paired.hpp"

namespace orrery {

enum class DoubtKind : uint8_t {
  FewSeeds,
  NothingRandom,
  Opposed,
  NotShown,
  Coverage,
  OtherJobs,
};
constexpr std::array<std::string_view, 6> enum_names(DoubtKind) {
  return {"few_seeds", "nothing_random", "opposed", "not_shown", "coverage", "other_jobs"};
}

struct Doubt {
  DoubtKind kind;
  std::string text;
};

// Kinds of samples whose intervals contain the true mean less often than the confidence promises.
enum class Awkward : uint8_t { Skewed, Tied };

// The share of 95 % intervals that contained the true value in 1,000 synthetic studies with samples
// of this kind. The table in analysis/README.md has the shares for 5, 10, 20 and 40 pairs; a test
// measures them. For other numbers of pairs, returns the share of the next lower number in the
// table, or that of 5 pairs if there are fewer than 5.
double coverage_measured(Awkward sample, Estimator estimator, size_t pairs);

std::vector<Doubt> doubts(const PairedDifference& paired, Estimator estimator);

}  // namespace orrery

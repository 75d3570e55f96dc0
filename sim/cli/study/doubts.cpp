#include "sim/cli/study/doubts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace orrery {
namespace {

// Fewer pairs than this often hide skew. Of skewed samples, 64 % look normal with 5 pairs, and 29 %
// with 10 pairs (see analysis/README.md).
constexpr size_t kFewPairs = 10;
constexpr double kCoverageMin = 0.9;  // a lower coverage is reported
constexpr double kSkewedFrom = 2;     // in standard errors; one normal sample in 20 is as skewed

struct CoverageRow {
  size_t pairs;
  // measured coverage by kind of sample and estimator (see kCoverage); 0: BCa needs more pairs
  double skewed_t, skewed_bca, tied_t, tied_bca;
};
// Shares of 95 % intervals that contained the true mean of synthetic samples. Skewed samples are
// lognormal with sigma 1.5. In tied samples 70 % of the differences are zero, and the others
// are exponential.
constexpr std::array<CoverageRow, 4> kCoverage{{{5, 0.692, 0, 0.704, 0},
                                                {10, 0.718, 0, 0.785, 0},
                                                {20, 0.756, 0.814, 0.842, 0.870},
                                                {40, 0.795, 0.852, 0.899, 0.917}}};

std::optional<Awkward> awkward(const PairedDifference& paired) {
  if (2 * paired.equal >= paired.pairs) return Awkward::Tied;
  if (std::abs(paired.skewness) > kSkewedFrom) return Awkward::Skewed;
  return std::nullopt;
}

std::optional<Doubt> doubt_of_coverage(const PairedDifference& paired, Estimator estimator) {
  const auto sample = awkward(paired);
  if (!sample || !paired.estimate().interval.is_known()) return std::nullopt;
  const double measured = coverage_measured(*sample, estimator, paired.pairs);
  if (measured >= kCoverageMin) return std::nullopt;
  const std::string what = *sample == Awkward::Tied
                               ? std::to_string(paired.equal) + " of " +
                                     std::to_string(paired.pairs) + " pairs are equal"
                               : "the differences are skewed";
  char text[160];
  std::snprintf(text, sizeof text,
                "%s: 95 %% intervals of such samples contained the true value in %.0f %% of "
                "synthetic studies",
                what.c_str(), 100 * measured);
  return Doubt{DoubtKind::Coverage, text};
}

Doubt not_shown(const PairedDifference& paired) {
  const size_t needed = pairs_needed(paired, std::abs(paired.estimate().mean) / 2);
  std::string text = "no difference is shown, because the interval contains 0";
  if (needed != SIZE_MAX) {
    text += "; about " + std::to_string(needed) + " seeds would show a difference of this size";
  }
  return {DoubtKind::NotShown, std::move(text)};
}

}  // namespace

double coverage_measured(Awkward sample, Estimator estimator, size_t pairs) {
  const CoverageRow* row = kCoverage.data();
  for (const CoverageRow& one : kCoverage) {
    if (one.pairs <= pairs) row = &one;
  }
  const bool is_t = estimator == Estimator::T;
  return sample == Awkward::Skewed ? (is_t ? row->skewed_t : row->skewed_bca)
                                   : (is_t ? row->tied_t : row->tied_bca);
}

std::vector<Doubt> doubts(const PairedDifference& paired, Estimator estimator) {
  using enum DoubtKind;
  if (paired.pairs < 2) return {{FewSeeds, "one seed says nothing about chance"}};
  if (!paired.varies) {
    return {{NothingRandom,
             "every seed gives the same values, so nothing random affects them; "
             "`seeds.permute_ties` shows how much the order of equal submit times matters"}};
  }
  if (paired.equal == paired.pairs) return {};
  std::vector<Doubt> found;
  if (paired.pairs < kFewPairs) {
    found.push_back({FewSeeds, "only " + std::to_string(paired.pairs) +
                                   " seeds: the interval assumes normal differences, and " +
                                   std::to_string(paired.pairs) +
                                   " pairs are too few to check that"});
  }
  if (paired.correlation < -2.6 / std::sqrt(static_cast<double>(paired.pairs))) {
    found.push_back({Opposed,
                     "seeds that are good for one arm are bad for the other, so equal seeds widen "
                     "the interval"});
  }
  if (paired.verdict() == DifferenceVerdict::Unclear) found.push_back(not_shown(paired));
  if (auto doubt = doubt_of_coverage(paired, estimator)) found.push_back(std::move(*doubt));
  return found;
}

}  // namespace orrery

// How often intervals contain the true value, measured by 1,000 synthetic studies for each sample
// size. The results are the table of analysis/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/cli/study/doubts.hpp"
#include "sim/cli/study/paired.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

constexpr int kStudies = 1'000;
constexpr double kSigma = 1.5;  // sigma of the lognormal distribution of kSkewed

struct SeedPair {
  double arm = 0, baseline = 0;
};
struct PairPopulation {
  std::string name;
  Scale scale;
  double truth;  // the expected difference; for LogRatio, the expected logarithm of the ratio
  std::function<SeedPair(Rng&)> draw;
};

// Arm and baseline share most of their noise. Their difference is normal with mean 3 and deviation
// sqrt(2).
const PairPopulation kNormal{"normal differences", Scale::Difference, 3, [](Rng& rng) {
                               const double shared = 100 + 20 * rng.normal();
                               return SeedPair{shared + 3 + rng.normal(), shared + rng.normal()};
                             }};
// The ratio of arm and baseline is lognormal with median 0.8 and sigma 0.25.
const PairPopulation kLognormal{"lognormal ratios", Scale::LogRatio, std::log(0.8), [](Rng& rng) {
                                  const double shared = rng.lognormal(5, 1);
                                  return SeedPair{shared * 0.8 * rng.lognormal(0, 0.25), shared};
                                }};
// The arm is always 0. The baseline is lognormal: large for a few seeds.
const PairPopulation kSkewed{"skewed shares", Scale::Difference,
                             -0.01 * std::exp(kSigma* kSigma / 2), [](Rng& rng) {
                               return SeedPair{0, 0.01 * rng.lognormal(0, kSigma)};
                             }};
const PairPopulation kTied{"70 % of pairs equal", Scale::Difference, 0.3, [](Rng& rng) {
                             const double more = rng.exponential();
                             return SeedPair{1 + (rng.chance(0.3) ? more : 0), 1};
                           }};

struct MeasuredCoverage {
  // Share of the studies whose interval contains `truth`, and share of the studies that warn that
  // their interval may miss it.
  double covered = 0, doubted = 0;
};

bool is_of_coverage(const Doubt& doubt) { return doubt.kind == DoubtKind::Coverage; }

MeasuredCoverage measure_coverage(const PairPopulation& population, Estimator estimator,
                                  size_t seeds) {
  Rng rng{7};
  int held = 0, doubted = 0;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<double> arm, baseline;
    for (size_t i = 0; i < seeds; ++i) {
      const SeedPair pair = population.draw(rng);
      arm.push_back(pair.arm);
      baseline.push_back(pair.baseline);
    }
    const PairedDifference paired =
        paired_difference(arm, baseline, population.scale, {.estimator = estimator});
    held += paired.estimate().interval.contains(population.truth) ? 1 : 0;
    doubted += std::ranges::any_of(doubts(paired, estimator), is_of_coverage) ? 1 : 0;
  }
  return {held / double{kStudies}, doubted / double{kStudies}};
}

// Each coverage is measured once and kept, because several tests use it.
const MeasuredCoverage& measured(const PairPopulation& population, Estimator estimator,
                                 size_t seeds) {
  static std::map<std::tuple<std::string, Estimator, size_t>, MeasuredCoverage> known;
  const auto [at, is_new] = known.try_emplace({population.name, estimator, seeds});
  if (is_new) at->second = measure_coverage(population, estimator, seeds);
  return at->second;
}

double covered(const PairPopulation& population, Estimator estimator, size_t seeds) {
  return measured(population, estimator, seeds).covered;
}

std::string readme_of_analysis() {
  std::ifstream file{ORRERY_SOURCE_DIR "/analysis/README.md"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Coverage, OfStudentsTIsAsSaidForNormalDifferencesAndLognormalRatios) {
  for (const PairPopulation* const population : {&kNormal, &kLognormal}) {
    for (const size_t seeds : {5U, 10U, 20U, 40U}) {
      const double part = covered(*population, Estimator::T, seeds);
      EXPECT_GE(part, 0.93) << population->name << ", " << seeds;
      EXPECT_LE(part, 0.97) << population->name << ", " << seeds;
    }
  }
}

// The warnings of a study quote these shares.
TEST(Coverage, OfSkewedAndTiedSamplesIsWhatStudiesQuote) {
  if (test::kIsSanitized) GTEST_SKIP() << "it takes long";
  constexpr double kRounded = 0.0005;
  for (const size_t seeds : {5U, 10U, 20U, 40U}) {
    for (const Estimator estimator : {Estimator::T, Estimator::Bca}) {
      if (estimator == Estimator::Bca && seeds < kBcaValuesMin) continue;
      EXPECT_NEAR(covered(kSkewed, estimator, seeds),
                  coverage_measured(Awkward::Skewed, estimator, seeds), kRounded)
          << seeds;
      EXPECT_NEAR(covered(kTied, estimator, seeds),
                  coverage_measured(Awkward::Tied, estimator, seeds), kRounded)
          << seeds;
    }
  }
}

TEST(Coverage, StandsInTheReadmeAsMeasured) {
  if (test::kIsSanitized) GTEST_SKIP() << "it takes long";
  const std::string readme = readme_of_analysis();
  for (const PairPopulation* const population : {&kNormal, &kLognormal, &kSkewed, &kTied}) {
    for (const Estimator estimator : {Estimator::T, Estimator::Bca}) {
      std::string row = "| " + population->name + " | " + std::string{name_of(estimator)} + " |";
      for (const size_t seeds : {5U, 10U, 20U, 40U}) {
        char cell[32];
        std::snprintf(cell, sizeof cell, " %.1f |", 100 * covered(*population, estimator, seeds));
        row += estimator == Estimator::Bca && seeds < kBcaValuesMin ? " |" : cell;
      }
      EXPECT_NE(readme.find(row), std::string::npos) << row;
    }
  }
}

TEST(Coverage, IsDoubtedAsOftenAsTheReadmeSays) {
  if (test::kIsSanitized) GTEST_SKIP() << "it takes long";
  std::array<int, 4> percent{};
  for (size_t i = 0; i < percent.size(); ++i) {
    const double doubted = measured(kSkewed, Estimator::T, size_t{5} << i).doubted;
    percent[i] = static_cast<int>(std::lround(100 * doubted));
  }
  char text[120];
  std::snprintf(text, sizeof text,
                "%d %% with 5 seeds, %d %% with 10, %d %% with 20 and %d %% with 40", percent[0],
                percent[1], percent[2], percent[3]);
  EXPECT_NE(readme_of_analysis().find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace orrery

#include "models/scheduling/toolbox/scoring.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/core/check.hpp"

namespace orrery {
int64_t least_requested_score(int64_t requested, int64_t allocatable) {
  if (allocatable == 0 || requested > allocatable) return 0;
  return (allocatable - requested) * kNodeScoreMax / allocatable;
}

int64_t most_requested_score(int64_t requested, int64_t allocatable) {
  if (allocatable == 0) return 0;
  return std::min(requested, allocatable) * kNodeScoreMax / allocatable;
}

int64_t shape_score(std::span<const ShapePoint> shape, int64_t utilization) {
  ORRERY_CHECK(!shape.empty(), "a shape has at least one point");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return shape[0].score;
    const ShapePoint& low = shape[i - 1];
    return low.score + (shape[i].score - low.score) * (utilization - low.utilization) /
                           (shape[i].utilization - low.utilization);
  }
  return shape.back().score;
}

int64_t requested_to_capacity_score(std::span<const ShapePoint> shape, int64_t requested,
                                    int64_t allocatable) {
  if (allocatable == 0 || requested > allocatable) return shape_score(shape, 100);
  return shape_score(shape, requested * 100 / allocatable);
}

int64_t balance_score(std::span<const double> fractions) {
  double deviation = 0;
  if (fractions.size() == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (fractions.size() > 2) {
    const auto count = static_cast<double>(fractions.size());
    double total = 0;
    for (const double f : fractions) total += f;
    const double mean = total / count;
    double squares = 0;
    for (const double f : fractions) squares += (f - mean) * (f - mean);
    deviation = std::sqrt(squares / count);
  }
  return static_cast<int64_t>((1 - deviation) * static_cast<double>(kNodeScoreMax));
}

int64_t balance_delta_score(int64_t with_pod, int64_t without_pod) {
  constexpr int64_t kHalf = kNodeScoreMax / 2;
  return kHalf + (kHalf + with_pod - without_pod) / 2;
}

int64_t scaled_image_bytes(int64_t bytes, int64_t nodes_with_image, int64_t nodes) {
  const double spread = static_cast<double>(nodes_with_image) / static_cast<double>(nodes);
  return static_cast<int64_t>(static_cast<double>(bytes) * spread);
}

int64_t image_locality_score(int64_t scaled_sum, int64_t sum_max) {
  ORRERY_CHECK(sum_max > kImageBytesMin, "the range of image sizes is not empty");
  const int64_t sum = std::clamp(scaled_sum, kImageBytesMin, sum_max);
  return kNodeScoreMax * (sum - kImageBytesMin) / (sum_max - kImageBytesMin);
}

double spread_term(int64_t pods_in_domain, int64_t domains, int64_t skew_max) {
  return static_cast<double>(pods_in_domain) * std::log(static_cast<double>(domains + 2)) +
         static_cast<double>(skew_max - 1);
}

int64_t spread_score(double sum_of_terms) { return static_cast<int64_t>(std::round(sum_of_terms)); }

void normalize_spread(std::span<int64_t> scores) {
  if (scores.empty()) return;
  const auto [low, high] = std::ranges::minmax(scores);
  for (int64_t& score : scores) {
    score = high == 0 ? kNodeScoreMax : kNodeScoreMax * (high + low - score) / high;
  }
}

void normalize_scores(std::span<int64_t> scores, Normalization direction) {
  const bool is_reversed = direction == Normalization::Reversed;
  const int64_t high = scores.empty() ? 0 : std::ranges::max(scores);
  for (int64_t& score : scores) {
    if (high != 0) score = kNodeScoreMax * score / high;
    if (is_reversed) score = kNodeScoreMax - score;
  }
}

}  // namespace orrery

#include "models/workload/traces/synthesis/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery::traces {

Quantiles::Quantiles(std::vector<double> sample) : points_{std::move(sample)} {
  ORRERY_CHECK(!points_.empty(), "a distribution needs at least one value");
  std::ranges::sort(points_);
  if (points_.size() <= kPointsMax) return;
  std::vector<double> kept(kPointsMax);
  for (size_t i = 0; i < kPointsMax; ++i) {
    const size_t begin = i * points_.size() / kPointsMax;
    const size_t end = (i + 1) * points_.size() / kPointsMax;
    for (size_t at = begin; at < end; ++at) kept[i] += points_[at];
    kept[i] /= static_cast<double>(end - begin);
  }
  points_ = std::move(kept);
}

double Quantiles::at(double share) const {
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(points_.size());
  return points_[std::min(static_cast<size_t>(place), points_.size() - 1)];
}

double ks_distance(std::vector<double> a, std::vector<double> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  double most = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    const double share_a = static_cast<double>(i) / static_cast<double>(a.size());
    const double share_b = static_cast<double>(j) / static_cast<double>(b.size());
    most = std::max(most, std::abs(share_a - share_b));
  }
  return most;
}

double ks_bound(size_t a, size_t b) {
  const auto m = static_cast<double>(a);
  const auto n = static_cast<double>(b);
  return 1.358 * std::sqrt((m + n) / (m * n));
}

}  // namespace orrery::traces

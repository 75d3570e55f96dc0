#include "models/scheduling/toolbox/gittins.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {

double gittins_index(std::span<const double> sorted, double attained, double quantum) {
  const auto n = static_cast<std::ptrdiff_t>(sorted.size());
  const auto above = [&](double service) {
    return std::ranges::upper_bound(sorted, service) - sorted.begin();
  };
  const std::ptrdiff_t first = above(attained);
  if (first >= n - 1) return 0;
  const std::ptrdiff_t last = std::min(above(attained + quantum), n - 1);
  const auto longer = static_cast<double>(n - first);
  const double chance = std::round(static_cast<double>(last - first) / longer * 1e5) / 1e5;
  double service = quantum * static_cast<double>(n - last);
  for (std::ptrdiff_t i = first; i < last; ++i) service += sorted[static_cast<size_t>(i)];
  return std::round(chance * 1e6 / (service / longer) * 1e4) / 1e4;
}

}  // namespace orrery

#include "models/control_plane/flow_control/flow_control_setup.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

// For claims whose lows sum up to more than `seats`: gives each claim its floor, and shares the
// remaining seats in proportion to low - floor.
std::vector<double> squeezed(const std::vector<SeatClaim>& claims,
                             const std::vector<double>& floors, double seats, double lows) {
  const double floor = std::accumulate(floors.begin(), floors.end(), 0.0);
  const double part = lows > floor ? std::max(seats - floor, 0.0) / (lows - floor) : 0;
  std::vector<double> shares;
  for (size_t i = 0; i < claims.size(); ++i) {
    shares.push_back(floors[i] + (claims[i].low - floors[i]) * part);
  }
  return shares;
}

}  // namespace

// The sum of clamp(p x target, low, high) over all claims grows with p. Its slope is the sum of the
// targets of the claims that are between low and high. The loop follows the sum from one bend to
// the next until the sum reaches `seats`.
std::vector<double> fair_seats(const std::vector<SeatClaim>& claims,
                               const std::vector<double>& floors, double seats) {
  double sum = 0;
  std::vector<std::pair<double, double>> bends;  // p, and the change of slope there
  for (const SeatClaim& claim : claims) {
    sum += claim.low;
    bends.emplace_back(claim.low / claim.target, claim.target);
    bends.emplace_back(claim.high / claim.target, -claim.target);
  }
  if (sum > seats) return squeezed(claims, floors, seats, sum);
  std::ranges::sort(bends);
  double p = 0, slope = 0;
  for (const auto& [at, change] : bends) {
    if (slope > 0 && sum + slope * (at - p) >= seats) break;
    sum += slope > 0 ? slope * (at - p) : 0;
    p = at;
    slope += change;
  }
  if (slope > 1e-12) p += (seats - sum) / slope;
  std::vector<double> shares;
  for (const SeatClaim& claim : claims) {
    shares.push_back(std::clamp(p * claim.target, claim.low, claim.high));
  }
  return shares;
}

}  // namespace orrery

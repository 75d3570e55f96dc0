#include "models/control_plane/base/api_statistics.hpp"

#include <numeric>

namespace orrery {

uint64_t ApiStatistics::Cell::total() const {
  return std::accumulate(count.begin(), count.end(), uint64_t{0});
}

void ApiStatistics::Cell::add(const Cell& other) {
  for (size_t o = 0; o < count.size(); ++o) count[o] += other.count[o];
  latency.add(other.latency);
}

ApiStatistics::Cell ApiStatistics::of_level(uint32_t level) const {
  Cell sum;
  for (const Cell& cell : cells_[level]) sum.add(cell);
  return sum;
}

ApiStatistics::Cell ApiStatistics::of_all() const {
  Cell sum;
  for (uint32_t level = 0; level < cells_.size(); ++level) sum.add(of_level(level));
  return sum;
}

void ApiStatistics::clear() {
  for (auto& level : cells_) {
    for (Cell& cell : level) {
      cell.count = {};
      cell.latency.clear();
    }
  }
}

}  // namespace orrery

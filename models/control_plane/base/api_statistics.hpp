// models/control_plane/base/api_statistics.hpp -- outcomes and latencies of requests, by verb and
// priority level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/control_plane/base/latency_histogram.hpp"
#include "models/control_plane/base/request.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Counts requests by outcome. Latencies are from the arrival at the server to the response.
class ApiStatistics {
 public:
  struct Cell {
    std::array<uint64_t, kApiOutcomes> count = {};  // by outcome
    LatencyHistogram latency;                       // of requests that are Done
    uint64_t of(ApiOutcome outcome) const { return count[static_cast<size_t>(outcome)]; }
    uint64_t total() const;
    // Responses with a status of 500 or more.
    uint64_t server_errors() const { return of(ApiOutcome::Refused) + of(ApiOutcome::TimedOut); }
    void add(const Cell& other);
  };

  explicit ApiStatistics(size_t levels) : cells_(levels) {}
  void record(uint32_t level, Verb verb, ApiOutcome outcome, Duration latency) {
    Cell& cell = cells_[level][static_cast<size_t>(verb)];
    ++cell.count[static_cast<size_t>(outcome)];
    if (outcome == ApiOutcome::Done) cell.latency.add(latency);
  }
  size_t levels() const { return cells_.size(); }
  const Cell& cell(uint32_t level, Verb verb) const {
    return cells_[level][static_cast<size_t>(verb)];
  }
  Cell of_level(uint32_t level) const;
  Cell of_all() const;
  void clear();  // figures from now on cover only the time since this call

 private:
  std::vector<std::array<Cell, kVerbs>> cells_;  // by level
};

}  // namespace orrery

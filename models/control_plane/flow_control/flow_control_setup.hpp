// models/control_plane/flow_control/flow_control_setup.hpp -- seats and queues of the priority
// levels of one API server.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class LevelKind : uint8_t { Exempt, Queue, Reject };
constexpr std::array<std::string_view, 3> enum_names(LevelKind) {
  return {"exempt", "queue", "reject"};
}

struct LevelSetup {
  LevelKind kind = LevelKind::Queue;
  int32_t seats = 1;              // nominal seats
  int32_t seats_min = 1;          // when all lendable seats are lent
  int32_t seats_max = INT32_MAX;  // when as many seats as allowed are borrowed
  int32_t queues = 1, hand = 1;
  int32_t queue_length = 50;
};

struct FlowControlSetup {
  std::vector<LevelSetup> levels;
  int32_t seats = 600;           // seats of the server
  Duration adjust_every = 10_s;  // zero: seats are neither lent nor borrowed
  double smoothing = 0.977;
  Duration wait_limit = 15_s;
  Duration service_guess = 60_s;
};

// The seats that a priority level claims: a target from recent demand, and bounds.
struct SeatClaim {
  double low = 0, high = 0;  // bounds
  double target = 0;
};
// Gives each claim clamp(p x target, low, high) seats, where p is such that all claims together get
// `seats`. Example: 10 seats, targets 6 and 2, lows 0, highs 10: p = 1.25 gives 7.5 and 2.5.
// If the lows sum up to more than `seats`, each claim gets its floor (the seats that it never
// lends) and a share of the remaining seats in proportion to low - floor.
std::vector<double> fair_seats(const std::vector<SeatClaim>& claims,
                               const std::vector<double>& floors, double seats);

}  // namespace orrery

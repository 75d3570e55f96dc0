// bench/support/curve.hpp -- measurements of one policy at growing numbers of nodes, jobs or users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/support/world.hpp"

namespace orrery::bench {

// Prints a table row for each point. If the growing quantity spans a factor of ten or more, the
// last line says how the cost of an event, or of a job, grows with this quantity. A curve ends
// early, with a message, if another point would take minutes.
class Curve {
 public:
  enum class Per : uint8_t { Event, Job };
  // `x`: the name of the growing quantity, for the last line.
  Curve(std::string policy, std::string x, Per per)
      : policy_{std::move(policy)}, x_{std::move(x)}, per_{per} {}
  Curve(const Curve&) = delete;
  Curve& operator=(const Curve&) = delete;
  ~Curve();

  static void print_head(const char* bare);
  bool is_over() const { return is_over_; }
  // If `x` is 0, the mean number of waiting jobs takes its place. `bare_rate` is the result of
  // bare_pool() or bare_nodes().
  void add(int64_t nodes, double x, const Window& window, double bare_rate);

 private:
  const std::string policy_, x_;
  const Per per_;
  std::vector<Sample> samples_;
  bool is_over_ = false;
};

}  // namespace orrery::bench

#include "bench/support/curve.hpp"

#include <algorithm>
#include <cstdio>
#include <span>

namespace orrery::bench {
namespace {

constexpr double kSecondsMax = 10;       // after a point with more CPU time, the curve ends
constexpr double kUsPerEventMax = 20e3;  // after a point with a higher cost, the curve ends

}  // namespace

void Curve::print_head(const char* bare) {
  std::printf("| policy           |   nodes |  waiting |  jobs/CPU s | us/event | %9s |\n", bare);
  std::printf("|------------------|--------:|---------:|------------:|---------:|----------:|\n");
}

void Curve::add(int64_t nodes, double x, const Window& window, double bare_rate) {
  std::printf("| %-16s | %7lld | %8.0f | ", policy_.c_str(), static_cast<long long>(nodes),
              window.waiting);
  if (window.jobs == 0) {
    std::printf("no job ended in %.0f s of CPU |\n", window.before + window.seconds);
    is_over_ = true;
    return;
  }
  std::printf("%11.0f | %8.2f | %9.1f |\n", window.jobs_per_s(), window.us_per_event(),
              bare_rate / window.jobs_per_s());
  std::fflush(stdout);
  const double cost = per_ == Per::Event ? window.us_per_event() : window.us_per_job();
  samples_.push_back({x > 0 ? x : window.waiting, cost});
  is_over_ = window.before + window.seconds > kSecondsMax || window.us_per_event() > kUsPerEventMax;
}

Curve::~Curve() {
  if (is_over_) std::printf("  stopped here: another point would take minutes\n");
  std::erase_if(samples_, [](const Sample& s) { return s.x < 1; });
  if (samples_.size() < 2) return;
  const auto [least, most] = std::ranges::minmax(samples_, {}, &Sample::x);
  if (most.x < 10 * least.x) return;  // the sizes are too similar to show how the cost grows
  std::printf("  %s: cost of %s ~ %s^%.2f", policy_.c_str(),
              per_ == Per::Event ? "an event" : "a job", x_.c_str(), growth(samples_));
  const std::span last = std::span{samples_}.last(2);
  if (last[1].x > 5 * last[0].x) std::printf(", over the last two points ^%.2f", growth(last));
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace orrery::bench

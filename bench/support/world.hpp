// bench/support/world.hpp -- a cluster that runs window by window, and what one window cost.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/cluster/cluster.hpp"
#include "sim/config/node.hpp"

namespace orrery::bench {

double cpu_seconds();  // of this process, so far
double resident_mib();
std::string scratch_file(const std::string& ending);  // a path that no other process uses

// A scenario as it is ready to run. Ends the program, with the reasons, if there are mistakes.
class World {
 public:
  World(const config::Document& document, Diagnostics& diagnostics);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Engine engine;
  const Scenario scenario;
  uint64_t jobs_over() const { return cluster_.controller().counters().completed; }
  const Cluster& cluster() const { return cluster_; }
  const Ground& ground() const { return ground_; }
  void start() { cluster_.start(); }
  // So many events, or as many as there are; false: there were none.
  bool advance(uint64_t events);
  double jobs_waiting() const;  // in the job queue and, as pods without a node, behind it

 private:
  const RngStreams rng_;
  NullRecorder recorder_;
  Ground ground_;
  Cluster cluster_;
};

config::Document read_text(const std::string& yaml, Diagnostics& diagnostics);

struct WindowLimits {
  Time from = {};              // it begins no earlier
  uint64_t jobs_before = 0;    // and so many end before
  uint64_t jobs = 0;           // so many end in it
  double seconds = 3;          // of CPU, then it is over with the jobs it has
  double seconds_before = 30;  // the run is given up if the window has not begun by then
};
struct Window {
  uint64_t jobs = 0, pods = 0, attempts = 0, events = 0;
  double seconds = 0;  // of CPU
  double before = 0;   // seconds until it began
  double waiting = 0;  // jobs, on the mean
  double growth_mib = 0;
  bool is_cut = false;  // by its seconds
  double jobs_per_s() const { return static_cast<double>(jobs) / seconds; }
  double us_per_job() const { return seconds / static_cast<double>(jobs) * 1e6; }
  double us_per_event() const { return seconds / static_cast<double>(events) * 1e6; }
};
// The jobs of no window: it never began, or nothing ended in it.
Window run_window(const std::string& yaml, const WindowLimits& limits);
// The cheapest of three, or of fewer if they take long.
Window least_window(const std::string& yaml, const WindowLimits& limits);

// How a cost grows: the slope through the logarithms, 1 for proportional to x. Samples must not all
// have the same x.
struct Sample {
  double x = 0, cost = 0;
};
double growth(std::span<const Sample> samples);

}  // namespace orrery::bench

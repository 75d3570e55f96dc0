// bench/support/world.hpp -- runs a scenario and measures the cost of a window of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/cluster/cluster.hpp"
#include "sim/config/node.hpp"

namespace orrery::bench {

double cpu_seconds();  // CPU time of this process so far
double resident_mib();
std::string scratch_file(const std::string& ending);  // a path that no other process uses

// A scenario that is ready to run. If the document has mistakes, the constructor prints them and
// ends the program.
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
  // Runs this many events. Returns false if the run ended before that.
  bool advance(uint64_t events);
  double jobs_waiting() const;  // jobs in the job queue, and pods without a node

 private:
  const RngStreams rng_;
  NullRecorder recorder_;
  Ground ground_;
  Cluster cluster_;
};

config::Document read_text(const std::string& yaml, Diagnostics& diagnostics);

struct WindowLimits {
  Time from = {};              // the window begins at this time or later
  uint64_t jobs_before = 0;    // jobs that must end before the window begins
  uint64_t jobs = 0;           // number of jobs that end in the window
  double seconds = 3;          // limit of CPU time, at which the window ends early
  double seconds_before = 30;  // limit of CPU time for the window to begin
};
struct Window {
  uint64_t jobs = 0, pods = 0, attempts = 0, events = 0;
  double seconds = 0;  // CPU time of the window
  double before = 0;   // CPU time from the start of the run to the window
  double waiting = 0;  // World::jobs_waiting(), on average
  double growth_mib = 0;
  bool is_cut = false;  // the limit of CPU time ended the window
  double jobs_per_s() const { return static_cast<double>(jobs) / seconds; }
  double us_per_job() const { return seconds / static_cast<double>(jobs) * 1e6; }
  double us_per_event() const { return seconds / static_cast<double>(events) * 1e6; }
};
// Runs the scenario and measures one window of the run. Window::jobs is 0 if the window never began
// or if no job ended in it.
Window run_window(const std::string& yaml, const WindowLimits& limits);
// Runs three windows, or fewer if they take long, and returns the one with the least CPU time.
Window least_window(const std::string& yaml, const WindowLimits& limits);

// The growth of a cost: the slope of log(cost) over log(x), which is 1 if the cost is proportional
// to x. Samples must not all have the same x.
struct Sample {
  double x = 0, cost = 0;
};
double growth(std::span<const Sample> samples);

}  // namespace orrery::bench

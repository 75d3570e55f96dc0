// sim/cli/progress.hpp -- progress of a run as one line of text.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "models/run/simulation.hpp"
#include "sim/cli/log.hpp"

namespace orrery {

std::string format_simulated(Time time);       // "12d 03:04:05"
std::string format_host_time(double seconds);  // "7s", "4min 05s", "2h 03min"
std::string format_count(uint64_t count);      // "1,234,567"
std::string format_short(double value);        // "12.3M", for rates
// The fraction of the simulated time that has passed. Empty without `until`, because the end of the
// last job is unknown.
std::optional<double> fraction_done(const SimulationProgress& progress);
std::optional<double> seconds_left(const SimulationProgress& progress, double elapsed_s);
std::string progress_line(const SimulationProgress& progress, double elapsed_s,
                          double events_per_s);

// Shows progress during a run: on a terminal one line rewritten in place, else a log line every ten
// seconds of host time.
class ProgressReporter {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Mode : uint8_t { Quiet, Terminal, Lines };

  ProgressReporter(Mode mode, std::ostream& stream, Log& log);
  ~ProgressReporter() { clear(); }
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  void update(const SimulationProgress& progress, Clock::time_point now = Clock::now());
  void clear();  // clears the terminal's line for other text

 private:
  void measure_rate(const SimulationProgress& progress, Clock::time_point now);
  void draw(const std::string& line);

  Mode mode_;
  std::ostream& stream_;
  Log& log_;
  Clock::time_point started_at_ = Clock::now(), shown_at_ = started_at_, measured_at_ = started_at_;
  uint64_t events_measured_ = 0;
  double events_per_s_ = 0;
  size_t width_drawn_ = 0;
};

size_t terminal_width();  // in columns; 80 if it is unknown
// Quiet if `is_quiet`, Terminal if `stream` is std::cerr and a terminal, else Lines.
ProgressReporter::Mode progress_mode(const std::ostream& stream, bool is_quiet);

}  // namespace orrery

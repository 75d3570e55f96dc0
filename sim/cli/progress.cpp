#include "sim/cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

namespace orrery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

template <class... Args>
std::string printed(const char* format, Args... args) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), format, args...);
  const auto used = static_cast<size_t>(std::max(length, 0));
  return {text.data(), std::min(used, text.size() - 1)};
}

double seconds_between(ProgressReporter::Clock::time_point a,
                       ProgressReporter::Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

std::string format_simulated(Time time) {
  const int64_t s = time.ns / 1'000'000'000;
  const std::string clock = printed("%02d:%02d:%02d", static_cast<int>(s / 3600 % 24),
                                    static_cast<int>(s / 60 % 60), static_cast<int>(s % 60));
  return s < 86'400 ? clock : std::to_string(s / 86'400) + "d " + clock;
}

std::string format_host_time(double seconds_in) {
  constexpr double kMax = 1e9;  // seconds, about 32 years
  if (!(seconds_in < kMax)) return "very long";
  const auto s = static_cast<int64_t>(std::max(seconds_in, 0.0) + 0.5);
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) {
    return printed("%dmin %02ds", static_cast<int>(s / 60), static_cast<int>(s % 60));
  }
  if (s < 86'400) {
    return printed("%dh %02dmin", static_cast<int>(s / 3600), static_cast<int>(s / 60 % 60));
  }
  return printed("%dd %02dh", static_cast<int>(s / 86'400), static_cast<int>(s / 3600 % 24));
}

std::string format_count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t from_end = 3; from_end < text.size(); from_end += 4) {
    text.insert(text.size() - from_end, ",");
  }
  return text;
}

std::string format_short(double value) {
  if (value < 999.5) return printed("%.0f", value);
  if (value < 999.5e3) return printed("%.3gk", value / 1e3);
  if (value < 999.5e6) return printed("%.3gM", value / 1e6);
  return printed("%.3gG", value / 1e9);
}

std::optional<double> fraction_done(const SimulationProgress& progress) {
  if (!progress.until || progress.until->ns <= 0) return std::nullopt;
  const double fraction =
      static_cast<double>(progress.now.ns) / static_cast<double>(progress.until->ns);
  return std::clamp(fraction, 0.0, 1.0);
}

std::optional<double> seconds_left(const SimulationProgress& progress, double elapsed_s) {
  const auto fraction = fraction_done(progress);
  // Below this fraction there is no estimate, because estimates would vary too much.
  constexpr double kFirstGuess = 0.001;
  if (!fraction || *fraction < kFirstGuess) return std::nullopt;
  return elapsed_s * (1 - *fraction) / *fraction;
}

std::string progress_line(const SimulationProgress& progress, double elapsed_s,
                          double events_per_s) {
  std::string line = format_simulated(progress.now);
  if (const auto fraction = fraction_done(progress)) {
    line += " of " + format_simulated(*progress.until);
    line += printed("  %.1f %%", *fraction * 100);
  }
  if (const auto left = seconds_left(progress, elapsed_s)) {
    line += "  ETA " + format_host_time(*left);
  }
  line += "  jobs done " + format_count(progress.jobs_over);
  line += " of " + format_count(progress.jobs_submitted);
  if (!progress.until && progress.jobs_submitted > 0) {
    line += printed(" (%.0f %%)", 100.0 * static_cast<double>(progress.jobs_over) /
                                      static_cast<double>(progress.jobs_submitted));
  }
  return line + "  " + format_short(events_per_s) + " events/s";
}

ProgressReporter::ProgressReporter(Mode mode, std::ostream& stream, Log& log)
    : mode_{mode}, stream_{stream}, log_{log} {}

void ProgressReporter::update(const SimulationProgress& progress, Clock::time_point now) {
  if (mode_ == Mode::Quiet) return;
  const auto pause = mode_ == Mode::Terminal ? milliseconds{100} : milliseconds{10'000};
  if (now - shown_at_ < pause) return;
  shown_at_ = now;
  measure_rate(progress, now);
  const std::string line =
      progress_line(progress, seconds_between(started_at_, now), events_per_s_);
  if (mode_ == Mode::Terminal) {
    draw(line);
  } else {
    log_.info(line);
  }
}

// Measures the events per second, at most once a second: over a shorter time the figure would vary
// too much to be read. Only the first measurement may cover less than a second.
void ProgressReporter::measure_rate(const SimulationProgress& progress, Clock::time_point now) {
  const double gap = seconds_between(measured_at_, now);
  const bool is_first = measured_at_ == started_at_;
  if (gap <= 0 || (!is_first && gap < 1)) return;
  events_per_s_ = static_cast<double>(progress.events - events_measured_) / gap;
  events_measured_ = progress.events;
  measured_at_ = now;
}

void ProgressReporter::draw(const std::string& line) {
  std::string text = line.substr(0, terminal_width() - 1);
  const size_t width = text.size();
  if (width < width_drawn_) text.append(width_drawn_ - width, ' ');
  width_drawn_ = width;
  stream_ << '\r' << text << std::flush;
}

void ProgressReporter::clear() {
  if (width_drawn_ == 0) return;
  stream_ << '\r' << std::string(width_drawn_, ' ') << '\r' << std::flush;
  width_drawn_ = 0;
}

size_t terminal_width() {
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

ProgressReporter::Mode progress_mode(const std::ostream& stream, bool is_quiet) {
  if (is_quiet) return ProgressReporter::Mode::Quiet;
  const bool is_terminal = &stream == &std::cerr && isatty(STDERR_FILENO) == 1;
  return is_terminal ? ProgressReporter::Mode::Terminal : ProgressReporter::Mode::Lines;
}

}  // namespace orrery

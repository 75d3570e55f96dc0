#include "sim/cli/study/study_progress.hpp"

#include <cmath>
#include <cstdio>

namespace orrery {
namespace {

std::string part_text(const SimulationProgress& run) {
  const std::optional<double> part = fraction_done(run);
  if (!part) return format_simulated(run.now);
  return std::to_string(static_cast<int>(std::floor(100 * *part))) + " %";
}

}  // namespace

std::optional<double> seconds_left(const StudyProgress& progress) {
  constexpr double kFirstGuess = 0.01;  // share of a run; earlier estimates vary too much
  double parts = 0;
  for (const auto& one : progress.running) parts += fraction_done(one.run).value_or(0);
  const double done = static_cast<double>(progress.done - progress.kept) + parts;
  const double left = static_cast<double>(progress.runs - progress.done) - parts;
  if (done < kFirstGuess || left <= 0) return std::nullopt;
  return progress.elapsed_s * left / done;
}

std::string progress_text(const StudyProgress& progress, size_t width_max) {
  std::string line =
      std::to_string(progress.done) + " of " + std::to_string(progress.runs) + " runs";
  if (progress.kept > 0) line += " (" + std::to_string(progress.kept) + " kept)";
  if (progress.failed > 0) line += ", " + std::to_string(progress.failed) + " failed";
  if (const auto left = seconds_left(progress)) {
    line += ", about " + format_host_time(*left) + " left";
  }
  if (progress.running.empty()) return line;
  line += ", " + std::to_string(progress.running.size()) + " running: ";
  std::string labelled, bare;
  for (const auto& [label, run] : progress.running) {
    labelled += (labelled.empty() ? "" : "; ") + label + " " + part_text(run);
    bare += (bare.empty() ? "" : ", ") + part_text(run);
  }
  line += line.size() + labelled.size() <= width_max ? labelled : bare;
  return line.substr(0, width_max);
}

void StudyProgressReporter::update(const StudyProgress& progress) {
  last_ = progress;
  const double pause = mode_ == ProgressReporter::Mode::Terminal ? 0.1 : 10;
  const bool is_last = progress.done == progress.runs;
  if (mode_ == ProgressReporter::Mode::Quiet) return;
  if (progress.elapsed_s < shown_s_ + pause && !is_last) return;
  shown_s_ = progress.elapsed_s;
  if (mode_ == ProgressReporter::Mode::Lines) return log_.info(progress_text(progress));
  clear();
  const std::string line = progress_text(progress, terminal_width() - 1);
  err_ << line << std::flush;
  width_ = line.size();
}

void StudyProgressReporter::failure(const std::string& text) {
  clear();
  log_.error(text);
}

void StudyProgressReporter::clear() {
  if (width_ > 0) err_ << '\r' << std::string(width_, ' ') << '\r' << std::flush;
  width_ = 0;
}

std::string StudyProgressReporter::total() const {
  char text[128];
  std::snprintf(text, sizeof text, "%zu runs, %zu of them kept, %zu failed; %.1f s, %.1f s of CPU",
                last_.done, last_.kept, last_.failed, last_.elapsed_s, last_.cpu_s);
  return text;
}

}  // namespace orrery

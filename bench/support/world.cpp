#include "bench/support/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "sim/config/parse.hpp"

namespace orrery::bench {
namespace {

Scenario read_or_exit(const config::Document& document, Diagnostics& diagnostics) {
  Scenario scenario = read_scenario(document, diagnostics);
  if (diagnostics.ok()) return scenario;
  std::fputs(diagnostics.text().c_str(), stderr);
  std::exit(1);
}

}  // namespace

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double resident_mib() {
  std::ifstream file{"/proc/self/statm"};
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4096 / (1 << 20);
}

std::string scratch_file(const std::string& ending) {
  const std::string name = "orrery_bench_" + std::to_string(::getpid()) + ending;
  return (std::filesystem::temp_directory_path() / name).string();
}

World::World(const config::Document& document, Diagnostics& diagnostics)
    : scenario{read_or_exit(document, diagnostics)},
      rng_{scenario.run.seed},
      ground_{scenario},
      cluster_{Sim{engine, rng_, recorder_}, scenario, ground_} {
  cluster_.check(document, diagnostics);
  if (!diagnostics.ok()) {
    std::fputs(diagnostics.text().c_str(), stderr);
    std::exit(1);
  }
  recorder_.start();
}

bool World::advance(uint64_t events) {
  engine.set_poll(events, [this] { engine.stop(); });
  const Time end = scenario.run.until ? Time{} + *scenario.run.until : Time::max();
  return engine.run(end) == Engine::Outcome::Stopped;
}

double World::jobs_waiting() const {
  const JobQueue* const queue = cluster_.job_queue();
  const size_t jobs = queue == nullptr ? 0 : queue->jobs_waiting();
  return static_cast<double>(jobs + cluster_.scheduler().pods_pending());
}

config::Document read_text(const std::string& yaml, Diagnostics& diagnostics) {
  return config::load_text(yaml, "bench.yaml", diagnostics);
}

namespace {

// Runs slices of 1 to 4 ms of CPU time, and calls `look` after each slice. Stops when `is_over`
// returns true, when the run ends, or after `seconds`. Returns false only if `seconds` passed
// first.
template <class Over, class Look>
bool run_until(World& world, double seconds, Over&& is_over, Look&& look) {
  const double began = cpu_seconds();
  double then = began;
  uint64_t slice = 16;
  while (!is_over()) {
    if (!world.advance(slice)) break;
    const double now = cpu_seconds();
    look();
    if (now - began > seconds) return is_over();
    if (now - then < 1e-3) slice = std::min<uint64_t>(slice * 2, 4096);
    if (now - then > 4e-3) slice = std::max<uint64_t>(slice / 2, 1);
    then = now;
  }
  return true;
}

}  // namespace

Window run_window(const std::string& yaml, const WindowLimits& limits) {
  Diagnostics diagnostics;
  const config::Document document = read_text(yaml, diagnostics);
  const double memory = resident_mib();
  World world{document, diagnostics};
  Window window;
  const double created = cpu_seconds();
  world.start();
  const bool has_begun = run_until(
      world, limits.seconds_before,
      [&] { return world.engine.now() >= limits.from && world.jobs_over() >= limits.jobs_before; },
      [] {});
  const double began = cpu_seconds();
  window.before = began - created;
  if (!has_begun) return window;
  const uint64_t jobs = world.jobs_over(), events = world.engine.events_run();
  const Scheduler::Counters pods = world.cluster().scheduler().counters();
  double waiting = 0, peak = 0;
  uint64_t looks = 0;
  window.is_cut = !run_until(
      world, limits.seconds, [&] { return world.jobs_over() >= jobs + limits.jobs; },
      [&] {
        waiting += world.jobs_waiting();
        if (++looks % 64 == 0) peak = std::max(peak, resident_mib());
      });
  window.seconds = cpu_seconds() - began;
  peak = std::max(peak, resident_mib());
  window.jobs = world.jobs_over() - jobs;
  window.events = world.engine.events_run() - events;
  window.pods = world.cluster().scheduler().counters().pods_scheduled - pods.pods_scheduled;
  window.attempts = world.cluster().scheduler().counters().attempts - pods.attempts;
  window.waiting = waiting / static_cast<double>(std::max<uint64_t>(looks, 1));
  window.growth_mib = peak - memory;
  return window;
}

Window least_window(const std::string& yaml, const WindowLimits& limits) {
  const double began = cpu_seconds();
  Window best = run_window(yaml, limits);
  for (int round = 0; round < 2 && cpu_seconds() - began < 1.5 && best.jobs > 0; ++round) {
    const Window again = run_window(yaml, limits);
    if (again.seconds < best.seconds) best = again;
  }
  return best;
}

double growth(std::span<const Sample> samples) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(samples.size());
  for (const Sample& s : samples) {
    const double u = std::log(s.x), v = std::log(s.cost);
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

}  // namespace orrery::bench

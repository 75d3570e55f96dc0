#include "models/run/simulation.hpp"

#include <chrono>
#include <optional>

#include "models/cluster/cluster.hpp"
#include "sim/config/describe.hpp"
#include "sim/record/channel.hpp"

namespace orrery {
namespace {

struct ProfileOutRow {
  FixedText<48> label;
  uint64_t events = 0;
  Duration host;

  static void columns(auto&& c) {
    c("label", &ProfileOutRow::label, "kind of event");
    c("events", &ProfileOutRow::events, "number of events of this kind that ran");
    c("host", &ProfileOutRow::host,
      "wall-clock time that the simulator spent in these events, estimated from a sample of them; "
      "differs from run to run");
  }
};

struct DigestRow {
  uint64_t event = 0;
  Time at;
  uint64_t digest = 0;

  static void columns(auto&& c) {
    c("event", &DigestRow::event, "number of events run so far");
    c("at", &DigestRow::at, "simulated time");
    c("digest", &DigestRow::digest, "running hash of time, phase and label of all events so far");
  }
};

std::string as_given(const config::Document& document) {
  std::string text;
  for (const config::SourceFile& file : document.sources) {
    if (document.sources.size() > 1) text += "# file: " + file.name + "\n";
    text += file.text;
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  for (const std::string& set : document.overrides) text += "# --set " + set + "\n";
  return text;
}

constexpr uint64_t kPollEvents = 4096;
using Clock = std::chrono::steady_clock;

ProfileOutRow to_out_row(const ProfileRow& row) {
  return {row.label, row.events, {static_cast<int64_t>(row.host_ns)}};
}

bool is_stopping(const SimulationOptions& options) {
  return options.stop != nullptr && options.stop->load();
}

SimulationResult::End end_of(const Cluster& cluster, bool is_recording, bool was_stopped,
                             bool has_until) {
  using End = SimulationResult::End;
  if (cluster.source_error()) return End::BadInput;
  if (!is_recording) return End::RecordFailed;
  if (was_stopped) return End::Stopped;
  if (cluster.is_futile()) return End::Futile;
  if (cluster.has_stalled() || (!has_until && !cluster.is_over())) return End::Stalled;
  return End::Done;
}

bool warn_of_retries(const Cluster& cluster, Time now, const SimulationOptions& options) {
  const auto warning = options.on_warning ? cluster.retry_warning() : std::nullopt;
  if (warning) options.on_warning(now, *warning);
  return warning.has_value();
}

std::vector<std::string> warnings_of(const Cluster& cluster) {
  std::vector<std::string> warnings = cluster.input_notes();
  const TooLargeJobs& large = cluster.too_large();
  if (large.jobs() == 1) warnings.push_back(large.first());
  if (large.jobs() > 1) {
    warnings.push_back(large.first() + "; " + std::to_string(large.jobs()) +
                       " jobs in all can never start");
  }
  return warnings;
}

// The tables that the run itself writes. The cluster owns all other tables.
struct RunTables {
  explicit RunTables(Recorder& recorder)
      : profile{recorder, "/profile",
                "Events of the simulator and the time spent in them, by label."},
        ladder{
            recorder, "/meta/digests",
            "Running hash of all events so far, at equal intervals of events. It shows where two "
            "runs begin to differ."} {}
  Channel<ProfileOutRow> profile;
  Channel<DigestRow> ladder;
};

// A scenario with every component that opens a table. It must not be run, because some of these
// components exclude each other.
Scenario everything_on() {
  Scenario scenario;
  scenario.cluster.pools.push_back({.name = "any", .machine = "dgx-a100"});
  scenario.network.level = NetworkLevel::Flow;
  scenario.storage.local.emplace();
  scenario.workload.sources.emplace_back(ServiceParams{});
  scenario.workload.typical_pods.emplace();
  scenario.policy.job_queue.emplace();
  scenario.workload.disruption_budgets.push_back({.name = "any", .min_available = "1"});
  scenario.control_plane.level = ControlPlaneLevel::Full;
  scenario.control_plane.namespaces.emplace();
  scenario.control_plane.services.groups.push_back({.name = "any"});
  scenario.control_plane.autoscaler.emplace();
  scenario.record.attempts = true;
  scenario.record.cardiogram.emplace();
  return scenario;
}

}  // namespace

void describe_run(const Scenario& scenario, const config::Document& document, Recorder& recorder) {
  recorder.set_attribute("version", std::string{ORRERY_VERSION});
  recorder.set_attribute("seed", scenario.run.seed);
  recorder.write_text("/meta/scenario", as_given(document));
  recorder.write_text("/meta/resolved", resolved_json(scenario));
}

std::vector<std::string> table_paths() {
  const Scenario scenario = everything_on();
  Engine engine{Engine::Limits{}};
  const RngStreams rng{0};
  MemoryRecorder recorder;
  Ground ground{scenario};
  const Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  const RunTables tables{recorder};
  std::vector<std::string> paths;
  for (const MemoryRecorder::Table& table : recorder.tables()) paths.push_back(table.path);
  return paths;
}

SimulationResult simulate(const Scenario& scenario, const config::Document& document,
                          Recorder& recorder, const SimulationOptions& options,
                          Diagnostics& diagnostics) {
  const auto began = Clock::now();
  Engine::Limits limits;
  limits.seed = scenario.run.seed;
  limits.audit_every = options.audit_every;
  Engine engine{limits};
  const RngStreams rng{scenario.run.seed};
  engine.enable_profile();

  describe_run(scenario, document, recorder);
  Ground ground{scenario};
  ground.check(scenario, document.root, diagnostics);
  if (!diagnostics.ok()) return {};
  Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  RunTables tables{recorder};

  SimulationResult result;
  cluster.check(document, diagnostics);
  if (!diagnostics.ok()) return result;
  if (options.on_begin) options.on_begin(ground.state);
  recorder.start();

  std::optional<Time> until;
  if (scenario.run.until) until = Time{} + *scenario.run.until;
  bool is_recording = true, has_warned = false;
  engine.set_poll(kPollEvents, [&] {
    is_recording = recorder.poll(std::chrono::steady_clock::now());
    if (!is_recording || is_stopping(options)) engine.request_stop();
    if (!has_warned) has_warned = warn_of_retries(cluster, engine.now(), options);
    if (options.on_progress) {
      const auto& c = cluster.controller().counters();
      options.on_progress({.now = engine.now(),
                           .until = until,
                           .events = engine.events_run(),
                           .jobs_submitted = c.submitted,
                           .jobs_over = c.completed + c.failed + c.cancelled});
    }
  });
  engine.add_audit([&] { cluster.audit(); });
  if (options.on_change) cluster.ask_at_changes(options.on_change);
  cluster.start();
  const Engine::Outcome outcome = engine.run(until.value_or(Time::max()));
  const bool was_stopped = outcome == Engine::Outcome::Stopped && is_stopping(options);
  result.end = end_of(cluster, is_recording, was_stopped, until.has_value());
  if (result.end == SimulationResult::End::BadInput) {
    result.input_error = *cluster.source_error();
    return result;
  }
  // If the events run out before `until`, the run still ends at `until`.
  if (outcome == Engine::Outcome::Drained && until) engine.advance_to(*until);
  const Time end = engine.now();
  cluster.finish(end);
  for (const ProfileRow& row : engine.profile()) tables.profile.emit(to_out_row(row));
  for (const auto& rung : engine.ladder()) tables.ladder.emit({rung.event, rung.time, rung.digest});
  result.simulated = end;
  result.events = engine.events_run();
  result.digest = engine.digest();
  result.summary = recorder.summary();
  result.warnings = warnings_of(cluster);
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - began).count();
  using End = SimulationResult::End;
  recorder.finish({.complete = result.end == End::Done || result.end == End::Stalled ||
                               result.end == End::Futile,
                   .digest = result.digest,
                   .wall_seconds = result.wall_seconds,
                   .simulated = end});
  return result;
}

}  // namespace orrery

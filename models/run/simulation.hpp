// models/run/simulation.hpp -- runs a scenario: builds the cluster, executes its events, and
// finishes the output. Also lists the tables of a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scenario/scenario.hpp"
#include "sim/config/node.hpp"
#include "sim/engine/engine.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

struct SimulationProgress {
  Time now;
  std::optional<Time> until;
  uint64_t events = 0;
  uint64_t jobs_submitted = 0, jobs_over = 0;
};

struct SimulationOptions {
  // Called every few thousand events, for progress lines.
  std::function<void(const SimulationProgress&)> on_progress = {};
  // Called at most once during the run, when there have been at least 10,000 scheduling attempts,
  // and more than 100 for each placed pod. The warning names remedies; the user may stop the run.
  std::function<void(Time now, const std::string& warning)> on_warning = {};
  // Called after all checks have passed and before the first event.
  std::function<void(const ClusterState& state)> on_begin = {};
  const std::atomic<bool>* stop = nullptr;  // set to true to end the run cleanly
  // Called when run.changes[change] takes effect. Returns the new profile. If the function is
  // empty, the new profile is run.changes[change].policy.
  std::function<PolicyParams(size_t change)> on_change = {};
  uint64_t audit_every = 1'000'000;  // events between two audits of invariants; 0: never
};

struct SimulationResult {
  enum class End : uint8_t { Done, Stopped, Stalled, Futile, RecordFailed, BadInput };
  End end = End::Done;
  Time simulated;
  uint64_t events = 0;
  uint64_t digest = 0;
  double wall_seconds = 0;
  std::string input_error;            // with End::BadInput: "file:row:column: ..."
  std::vector<std::string> warnings;  // warnings and notes on the input, for the log
  std::vector<SummaryValue> summary;
};

// `document` is the source of `scenario`; its text goes into the output. Mistakes that only the
// built cluster shows (unknown nodes, unreadable traces) go to `diagnostics`, and the run does not
// start. Throws RecordError, and whatever an event throws. `recorder` then has the rows written
// before the exception.
SimulationResult simulate(const Scenario& scenario, const config::Document& document,
                          Recorder& recorder, const SimulationOptions& options,
                          Diagnostics& diagnostics);

// Writes version, seed and scenario to `recorder`, as simulate() does before the run.
void describe_run(const Scenario& scenario, const config::Document& document, Recorder& recorder);

// The paths of all tables that a run may write, in the order in which it opens them.
std::vector<std::string> table_paths();

}  // namespace orrery

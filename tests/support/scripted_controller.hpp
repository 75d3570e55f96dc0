// tests/support/scripted_controller.hpp -- runs with a controller that follows a script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/controllers/action_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/lifecycle/gang_start_row.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {

// The policy `Scripted` (tests/unit/controllers/scripted_controller.cpp) executes `steps`, each at
// its time.
struct ScriptedRun {
  explicit ScriptedRun(const std::string& yaml, const std::string& steps,
                       const std::vector<std::string>& overrides = {})
      : run{yaml + "policy: {controllers: [{name: Scripted, period: 1s, args: {steps: [" + steps +
                "]}}]}\n",
            overrides} {}
  std::vector<ActionRow> actions() { return run.recorder.rows<ActionRow>("/events/actions"); }
  std::vector<PodRow> pods() { return run.recorder.rows<PodRow>("/pods"); }
  std::vector<JobRow> jobs() { return run.jobs(); }
  ScenarioRun run;
};

}  // namespace orrery

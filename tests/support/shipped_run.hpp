// tests/support/shipped_run.hpp -- a shipped scenario, run in memory.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scheduler_world.hpp"

namespace orrery {

struct ShippedRun {
  explicit ShippedRun(const std::string& name, const std::vector<std::string>& overrides = {}) {
    Diagnostics diagnostics;
    std::string path = ORRERY_SOURCE_DIR "/scenarios/";
    path.append(name).append(".yaml");
    config::Document document = config::load_file(path, diagnostics);
    for (const std::string& set : overrides) config::apply_override(document, set, diagnostics);
    const Scenario scenario = read_scenario(document, diagnostics);
    if (diagnostics.ok()) {
      result = simulate(scenario, document, recorder, {.audit_every = 1000}, diagnostics);
    }
    if (!diagnostics.ok()) ADD_FAILURE() << diagnostics.text();
  }
  JobRow job(const std::string& name) {
    for (const JobRow& row : recorder.rows<JobRow>("/jobs")) {
      if (row.name.view() == name) return row;
    }
    ADD_FAILURE() << "no job is called " << name;
    return {};
  }
  MemoryRecorder recorder;
  SimulationResult result;
};

}  // namespace orrery

// tests/unit/control_plane/scenario_mistakes.hpp -- mistakes found in a scenario.
#pragma once

#include <string>

#include "models/cluster/cluster.hpp"

namespace orrery::test {

// Messages about the scenario, including those of checks that need its nodes.
inline std::string mistakes_of_scenario(const std::string& text) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(text, "s.yaml", diagnostics);
  const Scenario read = read_scenario(document, diagnostics);
  if (!diagnostics.ok()) return diagnostics.text();
  const Ground ground{read};
  ground.check(read, document.root, diagnostics);
  return diagnostics.text();
}

}  // namespace orrery::test

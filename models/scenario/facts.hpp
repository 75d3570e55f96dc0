// models/scenario/facts.hpp -- which facts hold of a scenario, for parameters that need them.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "models/facts/fact.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/scenario/scenario.hpp"

namespace orrery {

// By number; those without a value are not known yet.
using Facts = std::array<std::optional<bool>, kWhyNot.size()>;

// All but those that only built nodes and switches show.
Facts facts_of(const Scenario& scenario);
// Those alone. `fabric`: null if there is none.
Facts facts_of(std::span<const Machine> machines, const Fabric* fabric);

}  // namespace orrery

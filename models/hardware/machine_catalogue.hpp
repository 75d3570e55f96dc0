// models/hardware/machine_catalogue.hpp -- the kinds of node Orrery knows, as data with sources.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

std::span<const Machine> machine_catalogue();        // sorted by name
const Machine* find_machine(std::string_view name);  // null: unknown

}  // namespace orrery

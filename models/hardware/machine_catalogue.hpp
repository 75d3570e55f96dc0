// models/hardware/machine_catalogue.hpp -- the kinds of node Orrery knows, as data with sources.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

std::span<const Machine> machine_catalogue();        // sorted by name
const Machine* find_machine(std::string_view name);  // null: unknown
// For traces that give a node's GPU model and count only: the first machine that matches both; the
// smallest CPU-only machine for no GPUs. Null: none.
const Machine* find_machine_with(std::string_view gpu_model, int gpus);

}  // namespace orrery

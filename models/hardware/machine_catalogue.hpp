// models/hardware/machine_catalogue.hpp -- the known kinds of nodes, as data with sources.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

std::span<const Machine> machine_catalogue();        // sorted by name
const Machine* find_machine(std::string_view name);  // null: unknown
// For traces with only a node's GPU model and count: the first machine that matches both; without
// GPUs, the smallest CPU-only machine. Null: none.
const Machine* find_machine_with(std::string_view gpu_model, int gpus);

}  // namespace orrery

// models/hardware/machine_catalogue.hpp -- the known kinds of nodes, as data with sources.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

std::span<const Machine> machine_catalogue();        // sorted by name
const Machine* find_machine(std::string_view name);  // null: unknown
// For a trace that gives only the GPU model and the number of GPUs of a node. Returns the first
// match in machine_catalogue(); for 0 GPUs, the CPU-only machine with the fewest logical CPUs; null
// if no machine matches.
const Machine* find_machine_with(std::string_view gpu_model, int gpus);

}  // namespace orrery

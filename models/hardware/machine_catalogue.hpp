// models/hardware/machine_catalogue.hpp -- the known kinds of nodes, as data with sources.
#pragma once

#include <span>
#include <string_view>

#include "models/hardware/machine.hpp"

namespace orrery {

std::span<const Machine> machine_catalogue();        // sorted by name
const Machine* find_machine(std::string_view name);  // null: unknown
// The machine for a node of which a trace gives only the GPU model and count. If several machines
// match, it is the first by name. For 0 GPUs it is the CPU-only machine with the fewest logical
// CPUs. Null if no machine matches.
const Machine* find_machine_with(std::string_view gpu_model, int gpus);

}  // namespace orrery

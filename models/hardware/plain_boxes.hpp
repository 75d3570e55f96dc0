// models/hardware/plain_boxes.hpp -- simple servers, which differ only in counts, as one table.
#pragma once

#include <vector>

#include "models/hardware/machine.hpp"

namespace orrery {

// Assumed position of GPU `gpu` of `gpus`. Each socket has an equal share of the GPUs. With a
// positive `per_switch`, as many GPUs share a PCIe switch; with 0, each has its own host bridge.
DevicePlace spread_place(int gpu, int gpus, int sockets, int per_switch);

std::vector<Machine> plain_boxes();

}  // namespace orrery

// models/hardware/plain_boxes.hpp -- simple servers, which differ only in counts, as one table.
#pragma once

#include <vector>

#include "models/hardware/machine.hpp"

namespace orrery {

// Position of GPU `gpu` of `gpus` without better data: an equal share for each socket, each device
// on its own host bridge, or `per_switch` of them below one PCIe switch.
DevicePlace spread_place(int gpu, int gpus, int sockets, int per_switch);

std::vector<Machine> plain_boxes();

}  // namespace orrery

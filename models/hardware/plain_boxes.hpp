// models/hardware/plain_boxes.hpp -- simple servers, which differ only in counts, as one table.
#pragma once

#include <vector>

#include "models/hardware/machine.hpp"

namespace orrery {

// Position of GPU `gpu` of `gpus` if no better data exist. Each socket has an equal share. Each
// device has its own host bridge, or `per_switch` devices share a PCIe switch.
DevicePlace spread_place(int gpu, int gpus, int sockets, int per_switch);

std::vector<Machine> plain_boxes();

}  // namespace orrery

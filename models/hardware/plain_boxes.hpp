// models/hardware/plain_boxes.hpp -- simple servers, each built from a row of one table.
#pragma once

#include <vector>

#include "models/hardware/machine.hpp"

namespace orrery {

// Assumed position of GPU number `gpu` in a server with `gpus` GPUs. Each socket has an equal share
// of the GPUs. If `per_switch` is positive, that many GPUs share a PCIe switch; if it is 0, each
// GPU has its own host bridge.
DevicePlace spread_place(int gpu, int gpus, int sockets, int per_switch);

std::vector<Machine> plain_boxes();

}  // namespace orrery

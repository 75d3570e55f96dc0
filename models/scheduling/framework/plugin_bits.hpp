// models/scheduling/framework/plugin_bits.hpp -- which bits of a set of plugins mean what.
#pragma once

#include <cstdint>

namespace orrery {

// A set of plugins is a uint32_t. A plugin's bit is its index in the profile; the bits after the
// last possible plugin stand for checks of the framework itself.
constexpr uint8_t kPluginsMax = 30;                 // of a profile
constexpr uint8_t kNominatedPods = kPluginsMax;     // the room that is kept for nominated pods
constexpr uint8_t kNodeReady = kNominatedPods + 1;  // the check that a node is up
constexpr uint8_t kPluginBits = kNodeReady + 1;
static_assert(kPluginBits <= 32, "a set of plugins has 32 bits");

}  // namespace orrery

// models/scheduling/framework/plugin_bits.hpp -- the bits of a set of plugins.
#pragma once

#include <cstdint>

namespace orrery {

// A set of plugins is a uint32_t. A plugin's bit is its index in the profile. The two bits after
// those of plugins are for checks of the framework itself.
constexpr uint8_t kPluginsMax = 30;                 // largest number of plugins in a profile
constexpr uint8_t kNominatedPods = kPluginsMax;     // check that leaves room for nominated pods
constexpr uint8_t kNodeReady = kNominatedPods + 1;  // check that the node is up
constexpr uint8_t kPluginBits = kNodeReady + 1;
static_assert(kPluginBits <= 32, "a set of plugins has 32 bits");

}  // namespace orrery

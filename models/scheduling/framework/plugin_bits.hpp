// models/scheduling/framework/plugin_bits.hpp -- the bits of a set of plugins.
#pragma once

#include <cstdint>

namespace orrery {

// A set of plugins is a uint32_t. A plugin's bit is its index in the profile. The bits after the
// last possible plugin are checks of the framework itself.
constexpr uint8_t kPluginsMax = 30;                 // of a profile
constexpr uint8_t kNominatedPods = kPluginsMax;     // room reserved for nominated pods
constexpr uint8_t kNodeReady = kNominatedPods + 1;  // the node is up
constexpr uint8_t kPluginBits = kNodeReady + 1;
static_assert(kPluginBits <= 32, "a set of plugins has 32 bits");

}  // namespace orrery

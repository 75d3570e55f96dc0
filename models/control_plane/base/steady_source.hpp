// models/control_plane/base/steady_source.hpp -- sources of steady load: requests and writes that
// are simulated as rates, not one by one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

// Each source sets its own load. The total load is the sum over all sources.
enum class SteadySource : uint8_t { Heartbeats, Events, CrashLoops, Namespaces };
inline constexpr size_t kSteadySources = 4;

}  // namespace orrery

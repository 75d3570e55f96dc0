// models/control_plane/base/steady_source.hpp -- who makes steady load, which is never sent one by
// one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

// Each says anew what its load is; those of all add up.
enum class SteadySource : uint8_t { Heartbeats, Events, CrashLoops, Namespaces };
inline constexpr size_t kSteadySources = 4;

}  // namespace orrery

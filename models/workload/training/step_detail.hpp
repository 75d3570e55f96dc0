// models/workload/training/step_detail.hpp -- whether steps of gangs are simulated one by one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

// Rate: a gang makes its steps at a constant rate until something changes this rate. Single steps
// have no events. Traced: every step is simulated with its own exchanges.
enum class StepDetail : uint8_t { Rate, Traced };
constexpr std::array<std::string_view, 2> enum_names(StepDetail) { return {"rate", "traced"}; }

}  // namespace orrery

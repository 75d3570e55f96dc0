// models/workload/training/step_detail.hpp -- whether the steps of gangs are played.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

// Rate: a gang between two changes is a rate, and its steps cost nothing. Traced: every step is
// played, with its own exchanges.
enum class StepDetail : uint8_t { Rate, Traced };
constexpr std::array<std::string_view, 2> enum_names(StepDetail) { return {"rate", "traced"}; }

}  // namespace orrery

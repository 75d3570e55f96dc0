// models/scheduling/contract/counted.hpp -- the resources that a job queue may count.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/enum_names.hpp"

namespace orrery {

enum class Counted : uint8_t { Cpus, Memory, Gpus, Nics, Pods };  // same order as in enum Resource
constexpr std::array<std::string_view, 5> enum_names(Counted) {
  return {"cpus", "memory", "gpus", "nics", "pods"};
}

}  // namespace orrery

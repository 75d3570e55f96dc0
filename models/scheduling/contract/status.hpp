// models/scheduling/contract/status.hpp -- what a policy returns from an extension point.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/time.hpp"

#define ORRERY_API __attribute__((visibility("default")))

namespace orrery {

enum class Code : uint8_t {
  Success,
  Error,          // the attempt is repeated after a backoff; no plugin is named as the cause
  Unschedulable,  // no feasible node now; preemption or a later event may help
  UnschedulableAndUnresolvable,  // no eviction can help
  Wait,                          // Permit only
  Skip,                          // the policy does not apply to this pod
  Pending,  // like Unschedulable, but a helpful event moves the pod straight to the active queue
};
constexpr std::array<std::string_view, 7> enum_names(Code) {
  return {"Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable",
          "Wait",    "Skip",  "Pending"};
}

struct [[nodiscard]] Status {
  Code code = Code::Success;
  std::string_view reason = {};  // the framework copies the text when the point returns
  bool ok() const { return code == Code::Success; }
};
struct [[nodiscard]] PermitStatus {
  Code code = Code::Success;
  Duration timeout = {};  // longest wait, with Code::Wait
  std::string_view reason = {};
};

}  // namespace orrery

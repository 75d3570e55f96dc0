// A library for another version of the policy interface, in which an Entry has another layout.
#include <array>
#include <cstddef>

#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

constexpr uint32_t kOtherVersion = kPolicyAbiVersion + 1;

const bool is_added = [] {
  alignas(PolicyRegistry::Entry) std::array<std::byte, sizeof(PolicyRegistry::Entry)> other;
  other.fill(std::byte{0x5a});  // reading it as an Entry would crash
  PolicyRegistry::instance().add(kOtherVersion, "WrongAbi",
                                 reinterpret_cast<PolicyRegistry::Entry&>(other));
  return true;
}();

}  // namespace

extern "C" {
ORRERY_API extern const orrery::PolicyAbi orrery_policy_abi;
const orrery::PolicyAbi orrery_policy_abi{kOtherVersion, __VERSION__};
}

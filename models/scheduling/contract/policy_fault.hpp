// models/scheduling/contract/policy_fault.hpp -- calls into policies, and faults of policies.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {

// A policy from a shared library threw or violated its contract, or an external program that a
// built-in policy calls made a mistake. Ends the run with exit status 2. The text names the policy,
// then its library or the external program, then the simulated time.
class PolicyFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Rethrows the current exception. `policy` is a label (see PolicyRegistry::Entry::label()). If this
// policy is from a library, the exception becomes a PolicyFault, except when memory has run out.
[[noreturn]] void rethrow_as_fault_of(const std::string& policy);

// Every call into a policy goes through ask(). `call` also contains the checks of the result. If a
// check fails, a policy from a library is at fault; in a built-in policy, the failure is a bug of
// Orrery. Running out of memory is never a fault of a policy.
template <class F>
decltype(auto) ask(const std::string& policy, F&& call) {
  try {
    return std::forward<F>(call)();
  } catch (...) {
    rethrow_as_fault_of(policy);
  }
}

// A policy that implements the extension point P. Example: `permit.call(&Permit::permit, cycle,
// node)`.
template <class P>
struct Bound {
  P* plugin = nullptr;
  const std::string* name = nullptr;
  uint8_t index = 0;  // index in the profile: its bit in sets of plugins

  template <class Method, class... Args>
  decltype(auto) call(Method method, Args&&... args) const {
    return ask(*name,
               [&]() -> decltype(auto) { return (plugin->*method)(std::forward<Args>(args)...); });
  }
};

}  // namespace orrery

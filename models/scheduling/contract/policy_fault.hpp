// models/scheduling/contract/policy_fault.hpp -- calls into policies, and attribution of their
// failures.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace orrery {

// A policy from a shared library threw or violated its contract, or an external program that a
// built-in policy calls made a mistake. Ends the run with exit status 2. The text names the policy,
// its library or that program, and the simulated time.
class PolicyFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Rethrows the present exception: as a PolicyFault if `policy`, a label, is from a library.
[[noreturn]] void rethrow_as_fault_of(const std::string& policy);

// Every call into a policy goes through here, together with the checks of its result. A failed
// check is the fault of a policy from a library; in a built-in policy it is a bug of Orrery. Out of
// memory is no fault of a policy.
template <class F>
decltype(auto) ask(const std::string& policy, F&& call) {
  try {
    return std::forward<F>(call)();
  } catch (...) {
    rethrow_as_fault_of(policy);
  }
}

// A policy at one of its points: `permit.call(&Permit::permit, cycle, node)`.
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

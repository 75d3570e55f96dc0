#include "models/scheduling/contract/policy_fault.hpp"

#include <exception>
#include <new>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {

void rethrow_as_fault_of(const std::string& policy) {
  const std::string name = policy.substr(0, policy.find(':'));
  const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(name);
  if (entry == nullptr || entry->is_built_in()) throw;
  const std::string whose = "policy '" + policy + "' of " + entry->origin + " failed: ";
  std::string where = check_context_text();  // empty while the policy is constructed
  if (!where.empty()) where.insert(0, "\n  ");
  try {
    throw;
  } catch (const PolicyFault&) {
    throw;  // already names another policy, which this policy called
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const CheckFailed& failure) {
    // The text of a CheckFailed already says where it happened.
    throw PolicyFault{whose + failure.what()};
  } catch (const std::exception& error) {
    throw PolicyFault{whose + error.what() + where};
  } catch (...) {
    throw PolicyFault{whose + "it threw something that is no std::exception" + where};
  }
}

}  // namespace orrery

// A policy library without a policy.
#include "models/scheduling/contract/policy_registry.hpp"

ORRERY_POLICY_LIBRARY();

// models/control_plane/flow_schemas.hpp -- level and flow of what a client sends, and the seats
// behind each level.
#pragma once

#include <array>
#include <cstdint>

#include "models/control_plane/priority_and_fairness_params.hpp"

namespace orrery {

struct FlowClass {
  uint8_t level = 0;
  FlowDistinguisher distinguisher = FlowDistinguisher::None;
};

// The schema of the lowest precedence that matches; the last level if none does.
FlowClass classify(const FlowControlParams& params, ApiClientKind client, ApiResource resource);
// The same for all resources, as a client keeps it.
std::array<FlowClass, kApiResources> classify_all(const FlowControlParams& params,
                                                  ApiClientKind client);

// nominal = ceil(seats x shares / sum of shares), lendable = round(nominal x percent / 100),
// min = nominal - lendable, max = nominal + borrowing limit. In the mode `max_inflight`: two levels
// that reject, of reads and of writes, and one that is exempt.
FlowControlSetup setup_of(const FlowControlParams& params);
// The level of setup_of() by which a request is judged.
uint32_t gate_of(const FlowControlParams& params, const ApiRequest& request);

}  // namespace orrery

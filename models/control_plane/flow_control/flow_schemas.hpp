// models/control_plane/flow_control/flow_schemas.hpp -- level and flow of each request, and the
// seats behind each level.
#pragma once

#include <array>
#include <cstdint>

#include "models/control_plane/flow_control/priority_and_fairness_params.hpp"

namespace orrery {

struct FlowClass {
  uint8_t level = 0;
  FlowDistinguisher distinguisher = FlowDistinguisher::User;
  uint64_t schema = 0;  // hash of its name
};

// The schema of the lowest precedence that matches. If none matches, that is the mandatory schema
// `catch-all`, which leads to the last level.
FlowClass classify(const FlowControlParams& params, ApiClientKind client, ApiResource resource);
// The same for all resources, as a client keeps it.
std::array<FlowClass, kApiResources> classify_all(const FlowControlParams& params,
                                                  ApiClientKind client);

struct ApiUser {
  ApiClientKind kind = ApiClientKind::User;
  uint32_t number = 0;  // among users of that kind
};
// A hash of the schema's name and the distinguisher, which is the user, the namespace or nothing.
// It decides which queues the flow may use, so flows of two schemas differ even in one level.
uint64_t flow_of(const FlowClass& flow_class, ApiUser user, uint32_t name_space);

// nominal = ceil(seats x shares / sum of shares), lendable = round(nominal x percent / 100),
// min = nominal - lendable, max = nominal + borrowing limit. In the mode `max_inflight`: two levels
// that reject, of reads and of writes, and one that is exempt.
FlowControlSetup setup_of(const FlowControlParams& params);
// The level of setup_of() by which a request is judged.
uint32_t gate_of(const FlowControlParams& params, const ApiRequest& request);

}  // namespace orrery

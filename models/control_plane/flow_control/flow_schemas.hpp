// models/control_plane/flow_control/flow_schemas.hpp -- priority level and flow of each request,
// and the seats of each level.
#pragma once

#include <array>
#include <cstdint>

#include "models/control_plane/flow_control/priority_and_fairness_params.hpp"

namespace orrery {

struct FlowClass {
  uint8_t level = 0;
  FlowDistinguisher distinguisher = FlowDistinguisher::User;
  uint64_t schema = 0;  // hash of the schema's name
};

// Finds the matching schema with the lowest `precedence`; of schemas with equal precedence, the
// first by name. If no schema matches, the mandatory schema `catch-all` applies, and its level
// is the last of `params.levels`.
FlowClass classify(const FlowControlParams& params, ApiClientKind client, ApiResource resource);
// classify() for each resource, for a client to store.
std::array<FlowClass, kApiResources> classify_all(const FlowControlParams& params,
                                                  ApiClientKind client);

struct ApiUser {
  ApiClientKind kind = ApiClientKind::User;
  uint32_t number = 0;  // number among users of that kind
};
// The hash of a flow. The hash decides which queues the flow may use. It depends on the schema's
// name, so two schemas of one level have different flows, even for the same user. The distinguisher
// says whether the hash also depends on the user, on the namespace, or on neither.
uint64_t flow_of(const FlowClass& flow_class, ApiUser user, uint32_t name_space);

// The seats of each level are:
//   nominal = ceil(seats x shares / sum of shares)
//   min     = nominal - round(nominal x lendable percent / 100)
//   max     = nominal + round(nominal x borrowing percent / 100)
// Without a borrowing limit, max is unlimited. Example: of 600 seats, a level with 40 of 245 shares
// has nominal 98. If 25 % of these seats are lendable, min is 98 - round(24.5) = 73.
// The mode `max_inflight` has three levels: for reads, for writes, and for exempt requests. The
// first two levels reject requests above their limits.
FlowControlSetup setup_of(const FlowControlParams& params);
// Index of the level, among the levels of setup_of(params), that admits or rejects the request.
uint32_t gate_of(const FlowControlParams& params, const ApiRequest& request);

}  // namespace orrery

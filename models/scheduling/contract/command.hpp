// models/scheduling/contract/command.hpp -- what a policy may ask the scheduler to do.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct AllowWaiting {  // lets the pod go on to be bound, unless another plugin still holds it
  PodId pod;
};
struct RejectWaiting {  // sends the pod back to the queue
  PodId pod;
  std::string reason;
};
struct RejectGangs {  // sends all pods of these gangs that wait in Permit back to the queue
  std::string reason;
  GangId first;
  int32_t gangs = 1;
};
struct ActivateSiblings {  // moves every unscheduled sibling straight to the active queue
  PodId pod;
};
struct SetGangFailure {
  GangId gang;
  Time failed_at, backoff_until;
};
struct Nominate {  // room on the node is kept for the pod
  PodId pod;
  NodeId node;
  bool is_tried_first = false;  // when the pod comes back, before all other nodes
};
struct WithdrawNomination {
  PodId pod;
};
struct Evict {  // deletes victims to make room for the preemptor
  PodId preemptor;
  std::vector<PodId> victims;
  bool waits = false;  // no other pod is tried before the API servers have answered
};

using PolicyOrder = std::variant<AllowWaiting, RejectWaiting, RejectGangs, ActivateSiblings,
                                 SetGangFailure, Nominate, WithdrawNomination, Evict>;
struct PolicyCommand {
  uint8_t plugin = 0;  // that gave it: index in the profile
  PolicyOrder order;
};

// Takes commands in. The framework's carries them out once the point that gave them has returned.
class CommandSink {
 public:
  virtual ~CommandSink() = default;
  virtual void give(const PolicyCommand& command) = 0;
};

}  // namespace orrery

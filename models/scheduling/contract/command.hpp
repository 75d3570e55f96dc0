// models/scheduling/contract/command.hpp -- commands of a policy to the scheduler.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Ends this plugin's Wait for the pod. The pod is bound unless another plugin still makes it wait.
struct AllowWaiting {
  PodId pod;
};
struct RejectWaiting {  // requeues the pod
  PodId pod;
  std::string reason;
};
// Requeues all pods that wait in Permit and belong to the gangs with the ids `first` to
// `first` + `gangs` - 1.
struct RejectGangs {
  std::string reason;
  GangId first;
  int32_t gangs = 1;
};
// Moves the other unscheduled pods of the pod's gang straight to the active queue.
struct ActivateSiblings {
  PodId pod;
};
struct SetGangFailure {
  GangId gang;
  Time failed_at, backoff_until;
};
struct Nominate {  // pods of equal or lower priority must leave room for this pod on the node
  PodId pod;
  NodeId node;
  bool is_tried_first = false;  // the pod's next attempt tries this node before all others
};
struct WithdrawNomination {
  PodId pod;
};
struct Evict {  // deletes victims, so that the preemptor fits on their nodes
  PodId preemptor;
  std::vector<PodId> victims;
  // True: the scheduler tries no other pod before the API servers have responded.
  bool waits = false;
};

using PolicyOrder = std::variant<AllowWaiting, RejectWaiting, RejectGangs, ActivateSiblings,
                                 SetGangFailure, Nominate, WithdrawNomination, Evict>;
struct PolicyCommand {
  uint8_t plugin = 0;  // the policy that gave the command, as an index in the profile
  PolicyOrder order;
};

// Receives the commands that policies give during a call of an extension point. The framework's
// sink carries out the commands after the call has returned.
class CommandSink {
 public:
  virtual ~CommandSink() = default;
  virtual void give(const PolicyCommand& command) = 0;
};

}  // namespace orrery

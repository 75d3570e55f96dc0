// First come, first served.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class Fifo final : public Policy, public QueueOrder {
 public:
  using Params = NoParams;
  Fifo(JobBoard& /*board*/, const Params& /*params*/) {}
  int64_t rank(const QueuedJob& /*job*/) override { return 0; }
};
ORRERY_REGISTER_POLICY(Fifo, "FIFO", "Jobs in the order of their submission.");

}  // namespace
}  // namespace orrery

// Quasi-shortest-service-first (Helios, SC'21): least GPU time first, by the estimate.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class Qssf final : public Policy, public QueueOrder {
 public:
  using Params = NoParams;
  Qssf(JobBoard& /*board*/, const Params& /*params*/) {}
  // In units times milliseconds, so that a million GPUs for a century still fit.
  int64_t rank(const QueuedJob& job) override { return job.estimate.first / 1_ms * job.ask.units; }
};
ORRERY_REGISTER_POLICY(Qssf, "QSSF",
                       "The job with the least estimated GPU time first, as estimated on arrival.");

}  // namespace
}  // namespace orrery

// Quasi-shortest-service-first (Helios, SC'21): the job with the least estimated GPU time first.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class Qssf final : public Policy, public QueueOrder {
 public:
  using Params = NoParams;
  Qssf(JobBoard& /*board*/, const Params& /*params*/) {}
  // The unit of the rank is one GPU (or CPU, if the job queue counts CPUs) for one millisecond. A
  // million GPUs for a century make 3.2e18, which fits into 64 bits.
  int64_t rank(const QueuedJob& job) override { return job.estimate.first / 1_ms * job.ask.units; }
};
ORRERY_REGISTER_POLICY(
    Qssf, "QSSF", "Jobs with the least GPU time first, by the estimate made when a job arrives.");

}  // namespace
}  // namespace orrery

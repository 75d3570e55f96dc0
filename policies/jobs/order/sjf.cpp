// Shortest job first, by the estimated run time.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class Sjf final : public Policy, public QueueOrder {
 public:
  using Params = NoParams;
  Sjf(JobBoard& /*board*/, const Params& /*params*/) {}
  int64_t rank(const QueuedJob& job) override { return job.estimate.run.ns; }
};
ORRERY_REGISTER_POLICY(Sjf, "SJF", "The job with the shortest estimate first.");

}  // namespace
}  // namespace orrery

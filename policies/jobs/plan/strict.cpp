// Starts jobs in queue order until one does not fit.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class Strict final : public Policy, public Plan {
 public:
  using Params = NoParams;
  Strict(JobBoard& board, const Params& /*params*/) : board_{board} {}

  void plan(const PlanNews& /*news*/) override {
    for (JobSlot job = board_.head(); job != kNoJob && board_.fits(board_.job(job));
         job = board_.head()) {
      board_.start(job);
    }
  }

 private:
  JobBoard& board_;
};
ORRERY_REGISTER_POLICY(
    Strict, "Strict", "Starts jobs in queue order. No job passes the first job that does not fit.");

}  // namespace
}  // namespace orrery

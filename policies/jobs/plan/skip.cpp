// Starts jobs in queue order and skips jobs that do not fit.
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class Skip final : public Policy, public Plan {
 public:
  using Params = NoParams;
  Skip(JobBoard& board, const Params& /*params*/) : board_{board} {}

  void plan(const PlanNews& news) override {
    if (!news.has_room) {  // jobs that waited before still do not fit
      for (const JobSlot job : news.arrived) {
        if (board_.fits(board_.job(job))) board_.start(job);
      }
      return;
    }
    const JobTree& waiting = board_.waiting();
    JobKey key{INT64_MIN, {}, 0};
    for (;;) {
      const JobSlot job = waiting.find_after(key, {.free = board_.free()});
      if (job == kNoJob) return;
      key = waiting.key(job);
      if (board_.fits(board_.job(job))) board_.start(job);
    }
  }

 private:
  JobBoard& board_;
};
ORRERY_REGISTER_POLICY(Skip, "Skip",
                       "Starts every job that fits, in queue order. Large jobs may wait for ever.");

}  // namespace
}  // namespace orrery

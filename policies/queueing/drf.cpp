// Dominant resource fairness (Ghodsi et al., NSDI 2011): serve whoever has the smallest share of
// the resource it has the largest share of.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "models/scheduling/policy_registry.hpp"

namespace orrery {
namespace {

enum class Owner : uint8_t { Team, User };
constexpr std::array<std::string_view, 2> enum_names(Owner) { return {"team", "user"}; }

class Drf final : public Policy, public Plan, public JobWatcher {
 public:
  struct Params {
    Owner of = Owner::User;
    std::map<std::string, double> weights = {};

    template <class V>
    void fields(V& v) {
      v("of", of, "Who is to be treated fairly.");
      v("weights", weights, "By name; those not named have 1. Twice the weight, twice the share.");
    }
    void check(Checker& c) const {
      for (const auto& [name, weight] : weights) {
        if (!(weight > 0)) c.error("weights", "must be above 0");
      }
    }
  };
  Drf(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  void plan(const PlanNews& /*news*/) override {
    std::vector<bool> is_stuck(owners_.size());
    for (;;) {
      const size_t owner = poorest(is_stuck);
      if (owner == owners_.size()) return;
      const JobSlot slot = owners_[owner].waiting.first();
      if (!board_.fits(board_.job(slot))) {
        is_stuck[owner] = true;
      } else {
        board_.start(slot);
      }
    }
  }

  void job_waits(const QueuedJob& job) override {
    const uint32_t owner = owner_of(job);
    while (owners_.size() <= owner) {
      const auto index = static_cast<uint32_t>(owners_.size());
      const auto named = params_.weights.find(std::string{
          params_.of == Owner::Team ? board_.team_name(index) : board_.user_name(index)});
      owners_.push_back({.weight = named == params_.weights.end() ? 1 : named->second});
    }
    owners_[owner].waiting.insert(job.slot, {-job.priority, job.submitted, job.serial}, job.count,
                                  job.estimate);
  }
  void job_leaves(const QueuedJob& job) override { owners_[owner_of(job)].waiting.erase(job.slot); }
  void job_starts(const QueuedJob& job) override { owners_[owner_of(job)].held += job.request; }
  void job_stops(const QueuedJob& job) override { owners_[owner_of(job)].held -= job.request; }
  void job_ends(const QueuedJob& job) override { owners_[owner_of(job)].held -= job.request; }

 private:
  struct Held {
    double weight = 1;
    Resources held = {};
    JobTree waiting = {};
  };
  uint32_t owner_of(const QueuedJob& job) const {
    return params_.of == Owner::Team ? job.team : job.user;
  }
  double dominant_share(const Held& owner) const {
    double share = 0;
    for (const Resource resource : {Resource::Cpu, Resource::Memory, Resource::Gpu}) {
      const int64_t capacity = board_.capacities()[resource];
      if (capacity <= 0) continue;
      share = std::max(share,
                       static_cast<double>(owner.held[resource]) / static_cast<double>(capacity));
    }
    return share / owner.weight;
  }
  // Of those that have a job waiting and are not stuck; their number if there is none.
  size_t poorest(const std::vector<bool>& is_stuck) const {
    size_t best = owners_.size();
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < owners_.size(); ++i) {
      if (is_stuck[i] || owners_[i].waiting.is_empty()) continue;
      const double share = dominant_share(owners_[i]);
      if (share < least) {
        least = share;
        best = i;
      }
    }
    return best;
  }

  JobBoard& board_;
  const Params params_;
  std::vector<Held> owners_;
};
ORRERY_REGISTER_POLICY(Drf, "DRF",
                       "Dominant resource fairness over CPUs, memory and GPUs. Who has a job that "
                       "does not fit steps aside. O(owners) for each job that starts.");

}  // namespace
}  // namespace orrery

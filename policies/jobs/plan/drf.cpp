// Dominant resource fairness (Ghodsi et al., NSDI 2011): serves the owner with the smallest
// dominant share. An owner's dominant share is its largest share of any resource. Example: of 9
// CPUs and 18 GPUs, A holds 3 CPUs and 1 GPU (dominant share 1/3), B holds 1 CPU and 4 GPUs (2/9):
// B is next.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/named_in_vain.hpp"

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
      v("of", of, "Whether the owners that share fairly are teams or users.");
      v("weights", weights,
        "Weights of owners, by name; other owners have weight 1. Twice the weight gives twice the "
        "share.",
        Range{0.0, 1e9});
    }
    void check(Checker& c) const {
      for (const auto& [name, weight] : weights) {
        if (!(weight > 0)) c.error("weights", "must be above 0");
      }
    }
  };
  Drf(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  std::vector<std::string> named_in_vain() const override {
    const bool is_team = params_.of == Owner::Team;
    return orrery::named_in_vain("weights", is_team ? "team" : "user", params_.weights,
                                 [&](const std::string& name) {
                                   return is_team ? board_.has_team(name) : board_.has_user(name);
                                 });
  }

  // Serves owners in ascending order of their shares. If the start of a job raises an owner's
  // share, the owner moves towards the end of the order. An owner whose next job does not fit is
  // skipped. Free resources only shrink meanwhile, so owners before `key` need no second visit.
  void plan(const PlanNews& /*news*/) override {
    if (capacities_ != board_.capacities()) {
      capacities_ = board_.capacities();
      for (uint32_t owner = 0; owner < owners_.size(); ++owner) settle(owner);
    }
    JobKey key{INT64_MIN, {}, 0};
    for (;;) {
      const uint32_t owner = order_.find_after(key, {.free = board_.free()});
      if (owner == kNoJob) return;
      key = order_.key(owner);
      const JobSlot job = owners_[owner].waiting.begin()->second;
      if (!board_.fits(board_.job(job))) continue;
      board_.start(job);
      --key.serial;  // the same owner is next again if its share did not grow
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
    const auto place = owners_[owner].waiting.emplace(key_of(job), job.slot).first;
    if (place == owners_[owner].waiting.begin()) settle(owner);
  }
  void job_leaves(const QueuedJob& job) override {
    const uint32_t owner = owner_of(job);
    owners_[owner].waiting.erase({key_of(job), job.slot});
    settle(owner);
  }
  void job_starts(const QueuedJob& job) override { hold(job, 1); }
  void job_stops(const QueuedJob& job) override { hold(job, -1); }
  void job_ends(const QueuedJob& job) override { hold(job, -1); }

 private:
  struct Held {
    double weight = 1;
    Resources held = {};
    std::set<std::pair<JobKey, JobSlot>> waiting = {};
  };
  static JobKey key_of(const QueuedJob& job) { return {-job.priority, job.submitted, job.serial}; }
  uint32_t owner_of(const QueuedJob& job) const {
    return params_.of == Owner::Team ? job.team : job.user;
  }
  void hold(const QueuedJob& job, int64_t sign) {
    const uint32_t owner = owner_of(job);
    for (size_t i = 0; i < kResources; ++i) {
      owners_[owner].held.amount[i] += sign * job.ask.request.amount[i];
    }
    settle(owner);
  }
  // Puts the owner in its place in order_: by share, ties by the owner's number. Shares are not
  // negative, so their bits sort like their values.
  void settle(uint32_t owner) {
    if (order_.contains(owner)) order_.erase(owner);
    const Held& held = owners_[owner];
    if (held.waiting.empty()) return;
    const QueuedJob& first = board_.job(held.waiting.begin()->second);
    order_.insert(owner, {std::bit_cast<int64_t>(dominant_share(held)), {}, owner + uint64_t{1}},
                  first.ask.count, {});
  }
  double dominant_share(const Held& owner) const {
    double share = 0;
    for (const Resource resource : {Resource::Cpu, Resource::Memory, Resource::Gpu}) {
      const int64_t capacity = capacities_[resource];
      if (capacity <= 0) continue;
      share = std::max(share,
                       static_cast<double>(owner.held[resource]) / static_cast<double>(capacity));
    }
    return share / owner.weight;
  }

  JobBoard& board_;
  const Params params_;
  std::vector<Held> owners_;
  JobTree order_;  // owners with waiting jobs, with the count of each owner's next job
  Resources capacities_;
};
ORRERY_REGISTER_POLICY(Drf, "DRF",
                       "Dominant resource fairness over CPUs, memory and GPUs. An owner whose next "
                       "job does not fit is skipped. Host time with n waiting jobs: O(log n) for "
                       "each job that arrives, starts or ends, or more if "
                       "policy.job_queue.counts has several resources; O(owners) when nodes join "
                       "or leave.");

}  // namespace
}  // namespace orrery

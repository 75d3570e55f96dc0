// Slurm's multifactor priority: age, size, fairshare and the job's own priority, weighted.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/scheduling/fair_share.hpp"
#include "models/scheduling/policy_registry.hpp"

namespace orrery {
namespace {

enum class FairShare : uint8_t { FairTree, Classic };
constexpr std::array<std::string_view, 2> enum_names(FairShare) { return {"fair_tree", "classic"}; }

// Accounts are teams. Usage is held units times seconds; it halves in every half-life.
class SlurmMultifactor final : public Policy, public QueueOrder, public JobWatcher {
 public:
  struct Params {
    int64_t weight_age = 0, weight_job_size = 0, weight_fairshare = 0, weight_priority = 0;
    Duration max_age = 7_d;
    bool favor_small = false;
    Duration decay_half_life = 7_d;
    Duration calc_period = 5_min;
    FairShare fairshare = FairShare::FairTree;
    std::map<std::string, double> shares = {};

    template <class V>
    void fields(V& v) {
      constexpr Range kWeights{int64_t{0}, int64_t{1'000'000'000}};
      v("weight_age", weight_age, "PriorityWeightAge.", kWeights);
      v("weight_job_size", weight_job_size, "PriorityWeightJobSize.", kWeights);
      v("weight_fairshare", weight_fairshare, "PriorityWeightFairshare.", kWeights);
      v("weight_priority", weight_priority, "Of the job's own priority, one to one.", kWeights);
      v("max_age", max_age, "PriorityMaxAge: a wait that counts in full.", Range{1_s, 3660_d},
        Source{"slurm.conf"});
      v("favor_small", favor_small, "PriorityFavorSmall.");
      v("decay_half_life", decay_half_life, "PriorityDecayHalfLife.", Range{1_s, 3660_d},
        Source{"slurm.conf"});
      v("calc_period", calc_period, "PriorityCalcPeriod: between two looks at all priorities.",
        Range{1_s, 24_h}, Source{"slurm.conf"});
      v("fairshare", fairshare, "fair_tree, or classic: 2^(-usage/share).", Source{"slurm.conf"});
      v("shares", shares, "Of teams, by name; those not named have 1. Users of a team have alike.");
    }
    void check(Checker& c) const {
      for (const auto& [name, share] : shares) {
        if (share < 0) c.error("shares", "must not be negative");
      }
      if (weight_age + weight_job_size + weight_fairshare + weight_priority == 0) {
        c.error("", "needs a weight above 0");
      }
    }
  };
  SlurmMultifactor(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  Duration valid_for() const override { return params_.calc_period; }
  int64_t rank(const QueuedJob& job) const override {
    if (board_.now() >= factors_due_) compute_factors();
    const double age =
        std::min(1.0, (board_.now() - job.submitted).seconds() / params_.max_age.seconds());
    double size = static_cast<double>(job.count) /
                  static_cast<double>(std::max<int64_t>(board_.capacity(), 1));
    if (params_.favor_small) size = 1 - size;
    const Place place = places_.at(key_of(job));
    const double fair = accounts_[place.account].users[place.user].factor;
    const double priority = std::floor(static_cast<double>(params_.weight_age) * age) +
                            std::floor(static_cast<double>(params_.weight_job_size) * size) +
                            std::floor(static_cast<double>(params_.weight_fairshare) * fair);
    return -(static_cast<int64_t>(priority) + params_.weight_priority * job.priority);
  }

  void job_waits(const QueuedJob& job) override {
    const auto [place, is_new] = places_.try_emplace(key_of(job));
    if (!is_new) return;
    while (accounts_.size() <= job.team) {
      const auto team = static_cast<uint32_t>(accounts_.size());
      const auto named = params_.shares.find(std::string{board_.team_name(team)});
      accounts_.push_back(
          {.shares = named == params_.shares.end() ? 1 : named->second, .users = {}});
      held_.emplace_back();
    }
    place->second = {job.team, accounts_[job.team].users.size()};
    accounts_[job.team].users.push_back({.factor = 1});
    held_[job.team].push_back(0);
    factors_due_ = {};  // a newcomer moves everyone
  }
  void job_starts(const QueuedJob& job) override { hold(job, job.units); }
  void job_stops(const QueuedJob& job) override { hold(job, -job.units); }
  void job_ends(const QueuedJob& job) override { hold(job, -job.units); }

 private:
  struct Place {
    size_t account = 0, user = 0;
  };
  using Key = std::pair<uint32_t, uint32_t>;
  static Key key_of(const QueuedJob& job) { return {job.team, job.user}; }

  void hold(const QueuedJob& job, int64_t units) {
    accrue();
    const Place place = places_.at(key_of(job));
    held_[place.account][place.user] += units;
  }
  // Brings the usage up to now: what was used decays, what is held is added.
  void accrue() const {
    const Duration span = board_.now() - accrued_to_;
    if (span == Duration{}) return;
    accrued_to_ = board_.now();
    const double kept = std::exp2(-span.seconds() / params_.decay_half_life.seconds());
    for (size_t a = 0; a < accounts_.size(); ++a) {
      for (size_t u = 0; u < accounts_[a].users.size(); ++u) {
        double& usage = accounts_[a].users[u].usage;
        usage = usage * kept + static_cast<double>(held_[a][u]) * span.seconds();
      }
    }
  }
  void compute_factors() const {
    accrue();
    params_.fairshare == FairShare::FairTree ? fair_tree(accounts_) : classic_fair_share(accounts_);
    factors_due_ = board_.now() + params_.calc_period;
  }

  const JobBoard& board_;
  const Params params_;
  std::map<Key, Place> places_;
  mutable std::vector<FairShareAccount> accounts_;
  std::vector<std::vector<int64_t>> held_;  // by account and user
  mutable Time accrued_to_, factors_due_;
};
ORRERY_REGISTER_POLICY(SlurmMultifactor, "SlurmMultifactor",
                       "Slurm's priority/multifactor. All priorities are computed anew every "
                       "calc_period, O(queue log queue); every start and end is O(users).");

}  // namespace
}  // namespace orrery

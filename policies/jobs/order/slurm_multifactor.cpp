// Slurm's multifactor priority: age, size, fairshare, resources and the job's own priority,
// weighted.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "models/scheduling/contract/counted.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/fair_share.hpp"
#include "models/scheduling/toolbox/named_in_vain.hpp"

namespace orrery {
namespace {

enum class FairShare : uint8_t { FairTree, Classic };
constexpr std::array<std::string_view, 2> enum_names(FairShare) { return {"fair_tree", "classic"}; }

// Amount of one trackable resource: GiB of memory, or number of CPUs, GPUs, NICs or pods.
double amount_of(const Resources& resources, size_t resource) {
  const auto amount = static_cast<double>(resources.amount[resource]);
  const auto which = static_cast<Resource>(resource);
  if (which == Resource::Memory) return amount / static_cast<double>(1 << 30);
  return which == Resource::Cpu || which == Resource::Gpu ? amount / kMilli : amount;
}

// Weights by resource; 0 for a resource that `named` lacks.
std::array<double, kResources> weights_of(const std::map<std::string, double>& named) {
  std::array<double, kResources> weights = {};
  for (size_t i = 0; i < kResources; ++i) {
    const auto found = named.find(std::string{enum_names(Counted{})[i]});
    if (found != named.end()) weights[i] = found->second;
  }
  return weights;
}

// Accounts are teams. Each second, the usage of a user grows by the amount of resources that the
// user's jobs hold. Past usage halves in every half-life. The priority of a job is a sum of
// weighted factors. Example: with weight_age 1000 and max_age 7 d, a wait of 3.5 d adds 500 to the
// priority.
class SlurmMultifactor final : public Policy, public QueueOrder, public JobWatcher {
 public:
  struct Params {
    int64_t weight_age = 0, weight_job_size = 0, weight_fairshare = 0, weight_priority = 0;
    Duration max_age = 7_d;
    bool favor_small = false;
    Duration decay_half_life = 7_d;
    Duration calc_period = 5_min;
    FairShare fairshare = FairShare::FairTree;
    double damping = 1;
    std::map<std::string, double> shares = {}, weight_tres = {}, billing_weights = {};

    template <class V>
    void fields(V& v) {
      constexpr Range kWeights{int64_t{0}, int64_t{1'000'000'000}};
      constexpr Range kFactors{0.0, 1e9};
      v("weight_age", weight_age, "PriorityWeightAge.", kWeights);
      v("weight_job_size", weight_job_size, "PriorityWeightJobSize.", kWeights);
      v("weight_fairshare", weight_fairshare, "PriorityWeightFairshare.", kWeights);
      v("weight_priority", weight_priority,
        "Weight of the job's own priority. Unlike the factors, this priority is not scaled to "
        "0..1.",
        kWeights);
      v("max_age", max_age, "PriorityMaxAge: after a wait of this time, the age factor is 1.",
        Range{1_s, 3660_d}, Source{"slurm.conf"});
      v("favor_small", favor_small, "PriorityFavorSmall.");
      v("decay_half_life", decay_half_life, "PriorityDecayHalfLife.", Range{1_s, 3660_d},
        Source{"slurm.conf"});
      v("calc_period", calc_period,
        "PriorityCalcPeriod: time between two updates of all priorities.", Range{1_s, 24_h},
        Source{"slurm.conf"});
      v("fairshare", fairshare,
        "Algorithm of the fairshare factor. fair_tree: Slurm's Fair Tree; classic: "
        "2^(-usage/share).",
        Source{"slurm.conf"});
      v("damping", damping,
        "FairShareDampeningFactor: divides the exponent in the classic formula.",
        Range{1.0, 1000.0}, Source{"slurm.conf"},
        Heeded{fairshare == FairShare::Classic, "fairshare is not classic"});
      v("shares", shares,
        "Shares of teams, by name; other teams have share 1. A team's share is divided "
        "equally among its users who have submitted a job so far.",
        kFactors);
      v("weight_tres", weight_tres,
        "PriorityWeightTRES: weights of a job's shares of the cluster's cpus, memory, gpus, nics "
        "and pods.",
        kFactors, Example{"{gpus: 1000}"});
      v("billing_weights", billing_weights,
        "TRESBillingWeights: weights of cpus, memory (per GiB), gpus, nics and pods in the usage. "
        "Empty: the usage counts only the first resource of policy.job_queue.counts.",
        kFactors, Example{"{cpus: 1, memory: 0.25}"});
    }
    void check(Checker& c) const {
      check_resources(c, "weight_tres", weight_tres);
      check_resources(c, "billing_weights", billing_weights);
      if (weight_age + weight_job_size + weight_fairshare + weight_priority == 0 &&
          weight_tres.empty()) {
        c.error("", "needs a weight above 0");
      }
    }
    static void check_resources(Checker& c, std::string_view key,
                                const std::map<std::string, double>& weights) {
      constexpr auto kNames = enum_names(Counted{});
      for (const auto& [name, weight] : weights) {
        if (std::ranges::find(kNames, name) == kNames.end()) {
          c.error(key, "knows cpus, memory, gpus, nics and pods, not '" + name + "'");
        }
      }
    }
  };
  SlurmMultifactor(JobBoard& board, const Params& params)
      : board_{board},
        params_{params},
        weight_tres_{weights_of(params.weight_tres)},
        billing_weights_{weights_of(params.billing_weights)} {}

  std::vector<std::string> named_in_vain() const override {
    return orrery::named_in_vain("shares", "team", params_.shares,
                                 [&](const std::string& name) { return board_.has_team(name); });
  }
  Duration valid_for() const override { return params_.calc_period; }
  int64_t rank(const QueuedJob& job) override {
    if (board_.now() >= factors_due_) compute_factors();
    const double age =
        std::min(1.0, (board_.now() - job.submitted).seconds() / params_.max_age.seconds());
    const int64_t all_units = std::max<int64_t>(board_.capacity(), 1);
    const double counted =
        static_cast<double>(params_.favor_small ? all_units - job.ask.count : job.ask.count);
    const double size = std::clamp(counted / static_cast<double>(all_units), 0.0, 1.0);
    const Place place = places_.at(key_of(job));
    const double fair = accounts_[place.account].users[place.user].factor;
    double priority = static_cast<double>(params_.weight_age) * age +
                      static_cast<double>(params_.weight_job_size) * size +
                      static_cast<double>(params_.weight_fairshare) * fair;
    for (size_t i = 0; i < kResources; ++i) {
      if (weight_tres_[i] == 0) continue;
      const double all = amount_of(board_.capacities(), i);
      if (all <= 0) continue;
      priority += weight_tres_[i] * amount_of(job.ask.request, i) / all;
    }
    // Only the sum is truncated to a whole number, not each factor.
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
    factors_due_ = {};  // a new user changes the factors of all users
  }
  void job_starts(const QueuedJob& job) override { hold(job, billed(job)); }
  void job_stops(const QueuedJob& job) override { hold(job, -billed(job)); }
  void job_ends(const QueuedJob& job) override { hold(job, -billed(job)); }

 private:
  struct Place {
    size_t account = 0, user = 0;
  };
  using Key = std::pair<uint32_t, uint32_t>;
  static Key key_of(const QueuedJob& job) { return {job.team, job.user}; }

  // The amount that the job adds to held_, in millionths. Amounts are integers, so the former sum
  // is exactly restored when the job's amount is subtracted again.
  int64_t billed(const QueuedJob& job) const {
    if (params_.billing_weights.empty()) return job.ask.units * kMillion;
    double bill = 0;
    for (size_t i = 0; i < kResources; ++i)
      bill += billing_weights_[i] * amount_of(job.ask.request, i);
    return std::llround(bill * kMillion);
  }
  void hold(const QueuedJob& job, int64_t millionths) {
    accrue();
    const Place place = places_.at(key_of(job));
    held_[place.account][place.user] += millionths;
  }
  // Brings the usage up to now: the old usage decays, and the usage since the last call is added.
  // The added usage decays from the moment of use, so the result does not depend on the number of
  // calls.
  void accrue() {
    const Duration span = board_.now() - accrued_to_;
    if (span == Duration{}) return;
    accrued_to_ = board_.now();
    const double half_life = params_.decay_half_life.seconds();
    const double kept = std::exp2(-span.seconds() / half_life);
    const double added = (1 - kept) * half_life / std::numbers::ln2 / kMillion;
    for (size_t a = 0; a < accounts_.size(); ++a) {
      for (size_t u = 0; u < accounts_[a].users.size(); ++u) {
        double& usage = accounts_[a].users[u].usage;
        usage = usage * kept + static_cast<double>(held_[a][u]) * added;
      }
    }
  }
  void compute_factors() {
    accrue();
    params_.fairshare == FairShare::FairTree ? fair_tree(accounts_)
                                             : classic_fair_share(accounts_, params_.damping);
    factors_due_ = board_.now() + params_.calc_period;
  }

  static constexpr int64_t kMillion = 1'000'000;
  const JobBoard& board_;
  const Params params_;
  const std::array<double, kResources> weight_tres_, billing_weights_;
  std::map<Key, Place> places_;
  std::vector<FairShareAccount> accounts_;
  std::vector<std::vector<int64_t>> held_;  // held amounts in millionths, by account and user
  Time accrued_to_, factors_due_;
};
ORRERY_REGISTER_POLICY(SlurmMultifactor, "SlurmMultifactor",
                       "Slurm's priority/multifactor. The size of a job is its share of the "
                       "counted resource. Accounts are teams and have no hierarchy. The job's own "
                       "priority replaces nice and the site factor. There are no partition, QOS "
                       "and association factors, no PriorityFlags, and no resets of usage. Host "
                       "time: O(queue log queue) for each calc_period, and O(users) for each start "
                       "and end.");

}  // namespace
}  // namespace orrery

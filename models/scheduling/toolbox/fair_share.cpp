#include "models/scheduling/toolbox/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

double usage_of(const FairShareAccount& account) {
  double sum = 0;
  for (const FairShareUser& user : account.users) sum += user.usage;
  return sum;
}

double shares_of(const FairShareAccount& account) {
  double sum = 0;
  for (const FairShareUser& user : account.users) sum += user.shares;
  return sum;
}

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }

double level_fairness(double due, double used) {
  if (due == 0) return 0;
  return used == 0 ? std::numeric_limits<double>::infinity() : due / used;
}

struct Ranked {
  double fairness = 0;
  FairShareUser* user = nullptr;
};

void add_users(FairShareAccount& account, std::vector<Ranked>& users) {
  const double usage = usage_of(account), shares = shares_of(account);
  for (FairShareUser& user : account.users) {
    users.push_back({level_fairness(ratio(user.shares, shares), ratio(user.usage, usage)), &user});
  }
}

}  // namespace

void classic_fair_share(std::vector<FairShareAccount>& accounts, double damping) {
  double usage = 0, shares = 0;
  for (const FairShareAccount& account : accounts) {
    usage += usage_of(account);
    shares += account.shares;
  }
  for (FairShareAccount& account : accounts) {
    const double account_due = ratio(account.shares, shares);
    const double account_used = ratio(usage_of(account), usage);
    const double users_shares = shares_of(account);
    for (FairShareUser& user : account.users) {
      const double part = ratio(user.shares, users_shares);
      const double used = ratio(user.usage, usage);
      // Slurm's effective usage: the user's own usage, plus `part` times the usage of the account's
      // other users.
      const double effective = used + (account_used - used) * part;
      const double due = account_due * part;
      user.factor = due == 0 ? 0 : std::exp2(-effective / due / damping);
    }
  }
}

void fair_tree(std::vector<FairShareAccount>& accounts) {
  double usage = 0, shares = 0;
  size_t users = 0;
  for (const FairShareAccount& account : accounts) {
    usage += usage_of(account);
    shares += account.shares;
    users += account.users.size();
  }
  std::vector<std::pair<double, FairShareAccount*>> order;
  for (FairShareAccount& account : accounts) {
    const double used = ratio(usage_of(account), usage);
    order.emplace_back(level_fairness(ratio(account.shares, shares), used), &account);
  }
  const auto fairer = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::ranges::stable_sort(order, fairer);
  size_t rank = users;
  for (size_t i = 0; i < order.size();) {
    std::vector<Ranked> merged;
    const double fairness = order[i].first;
    for (; i < order.size() && order[i].first == fairness; ++i) {
      add_users(*order[i].second, merged);
    }
    std::ranges::stable_sort(merged, std::ranges::greater{}, &Ranked::fairness);
    size_t tied_rank = rank;
    for (size_t k = 0; k < merged.size(); ++k, --rank) {
      if (k == 0 || merged[k].fairness != merged[k - 1].fairness) tied_rank = rank;
      merged[k].user->factor = static_cast<double>(tied_rank) / static_cast<double>(users);
    }
  }
}

}  // namespace orrery

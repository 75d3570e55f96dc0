// models/scheduling/toolbox/fair_share.hpp -- Slurm's two fairshare algorithms.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct FairShareUser {
  double shares = 1, usage = 0;
  double factor = 0;  // result, 0..1: higher if the user got less than its share
};
struct FairShareAccount {
  double shares = 1;
  std::vector<FairShareUser> users;
};

// The classic algorithm: the factor is 2^(-u / s / damping). Here s is the share of all usage to
// which the user is entitled. u is the share that the user used, plus a part of the usage of the
// account's other users. Example with damping 1: u = s / 2 gives 2^-0.5 = 0.71, and u = 2 s gives
// 2^-2 = 0.25.
ORRERY_API void classic_fair_share(std::vector<FairShareAccount>& accounts, double damping = 1);
// Fair Tree: accounts, and then the users in each account, are sorted by level fairness (due share
// over used share). The factor is the user's rank, counted from the best served user, over the
// number of users: of four users, the best served one has 0.25 and the worst served one has 1.
// Users of one account have the same rank if their level fairness is equal. Accounts with equal
// level fairness are treated as one account.
ORRERY_API void fair_tree(std::vector<FairShareAccount>& accounts);

}  // namespace orrery

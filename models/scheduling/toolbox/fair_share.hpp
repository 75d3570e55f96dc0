// models/scheduling/toolbox/fair_share.hpp -- Slurm's two fairshare algorithms.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct FairShareUser {
  double shares = 1, usage = 0;
  double factor = 0;  // 0..1; higher: served less than its share
};
struct FairShareAccount {
  double shares = 1;
  std::vector<FairShareUser> users;
};

// Classic: 2 to the power of -(used share / due share / damping), with the user's shares within the
// account's. Example: a user who used half of its due share has 2^-0.5 = 0.71, one who used twice
// its share 2^-2 = 0.25.
ORRERY_API void classic_fair_share(std::vector<FairShareAccount>& accounts, double damping = 1);
// Fair Tree: accounts, then users in them, in the order of level fairness (due share over used
// share). The factor is the rank over the number of users; equal users have equal ranks, and equal
// accounts are ranked as one. Example: of four users the best served one has 0.25, the worst served
// 1.
ORRERY_API void fair_tree(std::vector<FairShareAccount>& accounts);

}  // namespace orrery

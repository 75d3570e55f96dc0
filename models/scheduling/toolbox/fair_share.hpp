// models/scheduling/toolbox/fair_share.hpp -- Slurm's two ways from shares and usage to a fairshare
// factor.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct FairShareUser {
  double shares = 1, usage = 0;
  double factor = 0;  // 0..1, higher: served less than its share
};
struct FairShareAccount {
  double shares = 1;
  std::vector<FairShareUser> users;
};

// Classic: 2 to the power of -(used share / due share / damping), the user's within the account's.
ORRERY_API void classic_fair_share(std::vector<FairShareAccount>& accounts, double damping = 1);
// Fair Tree: accounts, then users in them, in the order of level fairness (due share over used
// share); the factor is the rank, alike for users alike, over the number of users. Accounts that
// are alike are ranked as one.
ORRERY_API void fair_tree(std::vector<FairShareAccount>& accounts);

}  // namespace orrery

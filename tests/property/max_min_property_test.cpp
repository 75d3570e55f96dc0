// Compares the incremental solver with progressive filling in long double, and with a fresh solver
// to which only the current flows are added.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/network/sharing/max_min.hpp"
#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/plain_fat_tree.hpp"
#include "tests/support/plain_max_min.hpp"

namespace orrery {
namespace {

using test::PlainActivities;
using test::PlainActivity;
using test::PlainFatTree;

// Distribution of the random capacities, weights and limits.
enum class Numbers { Alike, FewKinds, Any, Extreme };

struct SolverStorm {
  uint64_t seed = 0;
  Numbers numbers = Numbers::Alike;
  uint64_t links = 1;
  uint64_t uses_max = 1;
  uint64_t activities = 1;   // mean number of activities that exist at once
  uint64_t changes_max = 1;  // most changes between two solves
};

class SolverRehearsal {
 public:
  explicit SolverRehearsal(const SolverStorm& storm) : storm_{storm}, rng_{storm.seed} {
    for (uint64_t i = 0; i < storm_.links; ++i) {
      capacity_.push_back(draw_capacity());
      solver_.add_link(capacity_.back());
    }
  }
  void run(int rounds) {
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      for (uint64_t i = 1 + rng_.below(storm_.changes_max); i > 0; --i) change();
      const std::span<const ActivityId> changed = solver_.solve();
      fill(capacity_, plain_);
      compare(changed);
    }
  }

 private:
  double draw_capacity() {
    switch (storm_.numbers) {
      case Numbers::Alike:
        return 4e11;
      case Numbers::FewKinds:
        return 1e11 * static_cast<double>(rng_.below(4));
      case Numbers::Any:
        return rng_.below(20) == 0 ? 0 : 1e11 * rng_.uniform();
      default:
        return std::pow(10, 14 * rng_.uniform());
    }
  }
  double draw_weight() {
    switch (storm_.numbers) {
      case Numbers::Alike:
        return 1;
      case Numbers::FewKinds:
        return rng_.below(2) == 0 ? 1 : 0.5 * static_cast<double>(1 + rng_.below(6));
      case Numbers::Any:
        return 0.05 + rng_.uniform();
      default:
        return std::pow(10, 4 * rng_.uniform() - 2);
    }
  }
  double draw_limit() {
    if (rng_.below(3) != 0) return MaxMin::kUnlimited;
    return rng_.below(8) == 0 ? 0 : draw_capacity() / static_cast<double>(1 + rng_.below(5));
  }
  std::vector<LinkUse> draw_uses() {
    std::vector<LinkUse> uses(rng_.below(30) == 0 ? 0 : 1 + rng_.below(storm_.uses_max));
    for (LinkUse& use : uses) {
      use = {.link = {static_cast<uint32_t>(rng_.below(storm_.links))}, .weight = draw_weight()};
    }
    return uses;
  }
  void change() {
    const uint64_t kind = rng_.below(20);
    if (kind == 0) {
      const auto link = static_cast<uint32_t>(rng_.below(storm_.links));
      capacity_[link] = draw_capacity();
      solver_.set_capacity({link}, capacity_[link]);
    } else if (plain_.empty() || (kind < 9 && plain_.size() < 2 * storm_.activities)) {
      PlainActivity added{.uses = draw_uses(), .rate_max = draw_limit()};
      const uint32_t id = solver_.add(added.uses, added.rate_max).index;
      ASSERT_TRUE(plain_.emplace(id, std::move(added)).second);
      rates_[id] = -1;
    } else {
      auto chosen = plain_.begin();
      std::advance(chosen, static_cast<ptrdiff_t>(rng_.below(plain_.size())));
      const ActivityId id{chosen->first};
      if (kind == 9) {
        chosen->second.rate_max = draw_limit();
        solver_.set_rate_max(id, chosen->second.rate_max);
      } else if (kind == 10) {
        chosen->second.uses = draw_uses();
        solver_.set_uses(id, chosen->second.uses);
      } else if (kind < 15 || plain_.size() > storm_.activities) {
        solver_.remove(id);
        rates_.erase(id.index);
        plain_.erase(chosen);
      }
    }
  }
  void compare(std::span<const ActivityId> changed) {
    std::vector<uint32_t> reported, expected;
    for (const ActivityId id : changed) reported.push_back(id.index);
    for (const auto& [id, activity] : plain_) {
      const double rate = solver_.rate({id});
      const auto right = static_cast<double>(activity.rate);
      if (std::isinf(right)) {
        EXPECT_EQ(rate, right);
      } else {
        EXPECT_NEAR(rate, right, 1e-9 * right) << "activity " << id << ", seed " << storm_.seed;
      }
      if (rates_[id] != rate) expected.push_back(id);
      rates_[id] = rate;
    }
    std::ranges::sort(reported);
    EXPECT_EQ(reported, expected) << "what solve() says has changed, seed " << storm_.seed;
    for (uint32_t l = 0; l < capacity_.size(); ++l) {
      EXPECT_LE(solver_.load({l}), capacity_[l] * (1 + 1e-12));
    }
  }

  SolverStorm storm_;
  Rng rng_;
  MaxMin solver_;
  std::vector<double> capacity_;
  PlainActivities plain_;
  std::map<uint32_t, double> rates_;  // rates as the solver last reported them
};

void rehearse(Numbers numbers) {
  Rng rng{static_cast<uint64_t>(numbers) + 77};
  for (uint64_t seed = 0; seed < 400 && !::testing::Test::HasFailure(); ++seed) {
    SolverStorm storm{.seed = seed, .numbers = numbers};
    storm.links = 1 + rng.below(seed % 4 == 0 ? 40 : 12);
    storm.uses_max = 1 + rng.below(seed % 10 == 0 ? 80 : 6);
    storm.activities = 1 + rng.below(seed % 3 == 0 ? 60 : 12);
    storm.changes_max = 1 + rng.below(6);
    SolverRehearsal{storm}.run(60);
  }
}

TEST(MaxMinProperty, RatesAreThoseOfProgressiveFillingWhateverComesAndGoes) {
  rehearse(Numbers::Any);
  EXPECT_GT(mark_count("max_min.out_of_the_way"), 0u);
}
TEST(MaxMinProperty, RatesAreRightWhereManyLevelsAreEqual) { rehearse(Numbers::Alike); }
TEST(MaxMinProperty, RatesAreRightWithFewKindsOfNumbersAndLinksThatAreDown) {
  rehearse(Numbers::FewKinds);
}
TEST(MaxMinProperty, RatesAreRightOverFourteenOrdersOfMagnitude) { rehearse(Numbers::Extreme); }

// 500 random flows on a tree of 128 hosts. Each step replaces one flow by another.
TEST(MaxMinProperty, RatesAfterALongHistoryAreThoseOfASolverWithoutAPast) {
  const PlainFatTree tree = PlainFatTree::two_levels(16);
  Rng rng{3};
  MaxMin old;
  for (uint32_t i = 0; i < tree.links(); ++i) old.add_link(400e9);
  std::vector<std::vector<LinkUse>> routes;
  const auto add = [&] {
    const auto from = static_cast<uint32_t>(rng.below(tree.hosts));
    const auto hop = static_cast<uint32_t>(1 + rng.below(tree.hosts - 1));
    routes.push_back(tree.route(from, (from + hop) % tree.hosts));
    return old.add(routes.back());
  };
  std::vector<ActivityId> flows;
  for (int i = 0; i < 500; ++i) flows.push_back(add());
  for (int i = 0; i < 20'000; ++i) {
    const size_t gone = rng.below(flows.size());
    old.remove(flows[gone]);
    flows[gone] = add();
    std::swap(routes[gone], routes.back());
    routes.pop_back();
    old.solve();
    if (i % 1000 != 0) continue;
    MaxMin fresh;
    for (uint32_t l = 0; l < tree.links(); ++l) fresh.add_link(400e9);
    for (const auto& route : routes) fresh.add(route);
    fresh.solve();
    for (uint32_t f = 0; f < flows.size(); ++f) {
      ASSERT_NEAR(old.rate(flows[f]) / fresh.rate({f}), 1, 1e-9);
    }
  }
}

}  // namespace
}  // namespace orrery

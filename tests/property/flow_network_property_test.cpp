// Compares the transfers of FlowNetwork with a plain simulation, which recomputes every rate at
// every event, in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/network/sharing/flow_network.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/plain_max_min.hpp"

namespace orrery {
namespace {

struct Plan {  // one transfer
  int64_t start = 0;
  int64_t latency = 0;
  int64_t size = 0;
  std::vector<LinkUse> uses;
  double rate_max = FlowNetwork::kUnlimited;
  int64_t ended_at = INT64_MAX;  // the caller ends the transfer at this time if it still runs
};
struct Change {  // a new capacity of a link
  int64_t at = 0;
  uint32_t link = 0;
  int64_t bits_per_s = 0;
};
struct Script {
  std::vector<int64_t> capacity;
  std::vector<Plan> plans;
  std::vector<Change> changes;
};

Script draw(uint64_t seed) {
  Rng rng{seed};
  Script script;
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(rng.below(bound)); };
  const uint64_t links = 1 + rng.below(8);
  for (uint64_t l = 0; l < links; ++l) {
    script.capacity.push_back(rng.below(2) == 0 ? 8'000'000'000 : 1 + below(20'000'000'000));
  }
  for (uint64_t i = 1 + rng.below(40); i > 0; --i) {
    Plan plan{.start = below(20'000),
              .latency = rng.below(2) == 0 ? 0 : below(3000),
              .size = rng.below(10) == 0 ? 0 : below(30'000),
              .uses = {},
              .rate_max = rng.below(3) == 0 ? 1e9 * rng.uniform() : FlowNetwork::kUnlimited};
    for (uint64_t u = 1 + rng.below(4); u > 0; --u) {
      plan.uses.push_back(
          {{static_cast<uint32_t>(rng.below(links))}, rng.below(2) == 0 ? 1 : 0.1 + rng.uniform()});
    }
    if (rng.below(6) == 0) plan.ended_at = plan.start + below(20'000);
    script.plans.push_back(plan);
  }
  for (uint64_t i = rng.below(10); i > 0; --i) {
    const auto link = static_cast<uint32_t>(rng.below(links));
    const int64_t at = below(50'000);
    script.changes.push_back({at, link, rng.below(2) == 0 ? 0 : 1 + below(20'000'000'000)});
    script.changes.push_back({at + 1 + below(20'000), link, script.capacity[link]});
  }
  return script;
}

constexpr int64_t kNotYet = -1;

// The end of each transfer, or kNotYet if it never ends.
std::vector<int64_t> plain_ends(const Script& script) {
  std::vector<double> capacity(script.capacity.begin(), script.capacity.end());
  std::vector<int64_t> ends(script.plans.size(), kNotYet);
  std::vector<long double> left;
  // Instants that are known in advance, because they do not depend on rates.
  std::vector<int64_t> times{INT64_MAX};
  for (const Plan& plan : script.plans) {
    left.push_back(static_cast<long double>(plan.size) * 8);
    times.insert(times.end(), {plan.start + plan.latency, plan.ended_at});
  }
  for (const Change& change : script.changes) times.push_back(change.at);
  std::ranges::sort(times);
  const auto moves_at = [&](size_t i, int64_t now) {
    const Plan& plan = script.plans[i];
    return ends[i] == kNotYet && plan.start + plan.latency <= now && now < plan.ended_at;
  };
  for (int64_t now = 0; now != INT64_MAX;) {
    for (const Change& change : script.changes) {
      if (change.at == now) capacity[change.link] = static_cast<double>(change.bits_per_s);
    }
    test::PlainActivities moving;
    for (uint32_t i = 0; i < script.plans.size(); ++i) {
      if (moves_at(i, now) && left[i] <= 1e-3L) ends[i] = now;
      if (!moves_at(i, now)) continue;
      moving[i] = {.uses = script.plans[i].uses, .rate_max = script.plans[i].rate_max};
    }
    test::fill(capacity, moving);
    int64_t next = *std::ranges::upper_bound(times, now);
    for (const auto& [i, activity] : moving) {
      if (activity.rate <= 0) continue;
      const long double ns = std::ceil((left[i] - 1e-3L) / activity.rate * 1e9L);
      if (ns < 1e15L) next = std::min(next, now + static_cast<int64_t>(ns));
    }
    if (next == INT64_MAX) break;
    for (const auto& [i, activity] : moving) {
      left[i] -= activity.rate * static_cast<long double>(next - now) * 1e-9L;
    }
    now = next;
  }
  return ends;
}

// Plays the script on the real network. With `is_noisy` it also makes calls that change no rate, at
// many instants.
class Played {
 public:
  Played(const Script& script, bool is_noisy)
      : ends(script.plans.size(), kNotYet), script_{script}, flows_(script.plans.size()) {
    engine_.add_audit([this] { network_.audit(); });
    for (const int64_t capacity : script.capacity) all_.push_back({network_.add_link({capacity})});
    for (const Change& change : script.changes) {
      engine_.at(Time{change.at}, Label{"test.change"},
                 [this, &change] { network_.set_capacity({change.link}, {change.bits_per_s}); });
    }
    for (size_t i = 0; i < script.plans.size(); ++i) {
      const Plan& plan = script.plans[i];
      engine_.at(Time{plan.start}, Label{"test.start"}, [this, i] { start(i); });
      if (plan.ended_at == INT64_MAX) continue;
      // Phase Fault: end() precedes a completion of the transfer at the same instant.
      const auto end = [this, i] { network_.end(flows_[i]); };
      engine_.at(Time{plan.ended_at}, Label{"test.end"}, end, Phase::Fault);
    }
    for (int64_t at = 0; is_noisy && at < 60'000; at += 77) {
      engine_.at(Time{at}, Label{"test.noise"}, [this] {
        network_.open(all_, 0);
        network_.end(network_.open(all_));
      });
    }
    engine_.run();
    for (const LinkUse& use : all_) carried.push_back(network_.carried(use.link).count);
    settled = network_.counters().settled;
  }

  std::vector<int64_t> ends;
  std::vector<int64_t> carried;
  uint64_t settled = 0;

 private:
  void start(size_t i) {
    const Plan& plan = script_.plans[i];
    flows_[i] = network_.start({.size = {plan.size},
                                .uses = plan.uses,
                                .latency = {plan.latency},
                                .rate_max = plan.rate_max},
                               [this, i] { ends[i] = engine_.now().ns; });
  }

  const Script& script_;
  Engine engine_{{.audit_every = 1}};
  FlowNetwork network_{engine_};
  std::vector<LinkUse> all_;
  std::vector<FlowId> flows_;
};

TEST(FlowNetworkProperty, TransfersEndWhenAPlainSimulationSaysTheyDo) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Script script = draw(seed);
    const std::vector<int64_t> expected = plain_ends(script);
    const Played real{script, false};
    for (size_t i = 0; i < expected.size(); ++i) {
      // Tolerance of 2 ns: both simulations round each end to whole nanoseconds, and the rounding
      // of one end may shift later ends.
      if (expected[i] == kNotYet) {
        EXPECT_EQ(real.ends[i], kNotYet);
      } else {
        EXPECT_NEAR(static_cast<double>(real.ends[i]), static_cast<double>(expected[i]), 2);
      }
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(FlowNetworkProperty, EndsDoNotDependOnHowOftenRatesAreSettled) {
  for (uint64_t seed = 1000; seed < 1100; ++seed) {
    const Script script = draw(seed);
    const Played quiet{script, false}, noisy{script, true};
    EXPECT_GT(noisy.settled, quiet.settled + 500);
    ASSERT_EQ(quiet.ends, noisy.ends) << "seed " << seed;
    ASSERT_EQ(quiet.carried, noisy.carried) << "seed " << seed;
  }
}

TEST(FlowNetworkProperty, LinksCarryTheBytesOfTheTransfersOverThemAndNoMore) {
  for (uint64_t seed = 2000; seed < 2200; ++seed) {
    Script script = draw(seed);
    std::vector<double> expected(script.capacity.size());
    for (Plan& plan : script.plans) {
      plan.ended_at = INT64_MAX;
      for (const LinkUse& use : plan.uses) {
        expected[use.link.index] += use.weight * static_cast<double>(plan.size);
      }
    }
    const Played real{script, false};
    EXPECT_EQ(std::ranges::count(real.ends, kNotYet), 0);
    for (size_t l = 0; l < expected.size(); ++l) {
      EXPECT_NEAR(static_cast<double>(real.carried[l]), expected[l], 0.51) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace orrery

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/rng.hpp"
#include "tests/support/gang_world.hpp"

namespace orrery {
namespace {

constexpr int64_t kNodeCpu = 100'000;

struct Pool {  // free GPUs and CPU of each node
  std::vector<int64_t> gpus, cpu;
  bool put(size_t node, const PodSpec& spec, int64_t sign = -1) {
    gpus[node] += sign * spec.gpus;
    cpu[node] += sign * spec.cpu_milli;
    return gpus[node] >= 0 && cpu[node] >= 0;
  }
};

struct ToyGroup {  // consecutive pods of a gang, of which `needed` must have nodes
  size_t first = 0, pods = 0;
  int needed = 0;
};

// A gang of the reference model. `nodes` has the node of each pod, or -1 for a pod without a node.
struct Toy {
  JobId job;
  std::vector<PodSpec> specs;
  std::vector<int> nodes;
  std::vector<ToyGroup> groups;
  bool runs = false;
  int assigned() const { return assigned({.pods = nodes.size()}); }
  int assigned(const ToyGroup& group) const {
    const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(group.first);
    return static_cast<int>(std::count_if(first, first + static_cast<std::ptrdiff_t>(group.pods),
                                          [](int n) { return n >= 0; }));
  }
  bool is_complete() const {
    return std::ranges::all_of(
        groups, [&](const ToyGroup& group) { return assigned(group) >= group.needed; });
  }
  bool is_candidate() const { return !runs && assigned() > 0; }
};

// OfRoles: pods of two roles, each with its own minimum.
enum class ToyPods : uint8_t { Alike, Unlike, OfRoles };

class Toys {
 public:
  Toys(Rng& rng, ToyPods pods) : rng_{rng}, pods_{pods}, world_{make_nodes(rng)} {
    const uint64_t gangs = 2 + rng.below(4);
    for (uint64_t i = 0; i < gangs; ++i) add();
  }

  void step() {
    Toy& toy = toys_[rng_.below(toys_.size())];
    const auto rank = static_cast<uint32_t>(rng_.below(toy.nodes.size()));
    const uint64_t action = rng_.below(10);
    if (toy.runs) {
      if (action == 0) end(toy);
    } else if (toy.nodes[rank] >= 0) {
      if (action == 0) {
        world_.give_up(toy.job, rank);
        toy.nodes[rank] = -1;
      }
    } else {
      assign(toy, rank, rng_.below(nodes_.size()));
    }
  }

  // The candidates that cannot complete, whatever the order of completions. Tries every order, and
  // every placement of missing pods.
  std::vector<JobId> stuck() const {
    const uint32_t all = candidates();
    std::vector<bool> seen(size_t{1} << toys_.size());
    std::vector<uint32_t> open{0};
    seen[0] = true;
    uint32_t completed_ever = 0;
    while (!open.empty()) {
      const uint32_t completed = open.back();
      open.pop_back();
      completed_ever |= completed;
      Pool pool = pool_beside(all & ~completed);
      for (uint32_t i = 0; i < toys_.size(); ++i) {
        const uint32_t next = completed | 1U << i;
        if ((all >> i & 1) == 0 || seen[next] || !can_complete(toys_[i], pool)) continue;
        seen[next] = true;
        open.push_back(next);
      }
    }
    return jobs_of(all & ~completed_ever);
  }
  bool is_feasible(JobId job) const {
    const auto i = static_cast<size_t>(std::ranges::find(toys_, job, &Toy::job) - toys_.begin());
    Pool pool = pool_beside(1U << i);
    return can_complete(toys_[i], pool);
  }
  GangWorld& world() { return world_; }

 private:
  std::vector<int32_t> make_nodes(Rng& rng) {
    for (uint64_t i = 1 + rng.below(4); i > 0; --i) {
      nodes_.push_back(static_cast<int32_t>(1 + rng.below(5)));
    }
    return nodes_;
  }
  PodSpec random_spec() {
    PodSpec spec;
    spec.gpus = static_cast<int32_t>(rng_.below(4));
    spec.cpu_milli = static_cast<int64_t>(rng_.below(3)) * 20'000 + (spec.gpus == 0 ? 30'000 : 0);
    return spec;
  }
  void add() {
    Toy toy;
    GangSpec gang;
    pods_ == ToyPods::OfRoles ? add_roles(toy, gang) : add_pods(toy, gang);
    for (const ToyGroup& group : toy.groups) gang.min_available += group.needed;
    toy.nodes.assign(toy.specs.size(), -1);
    toy.job = world_.add({gang});
    toys_.push_back(toy);
  }
  void add_pods(Toy& toy, GangSpec& gang) {
    PodSpec spec = random_spec();
    for (uint64_t pods = 1 + rng_.below(4); pods > 0; --pods) {
      if (pods_ == ToyPods::Unlike) spec = random_spec();
      toy.specs.push_back(spec);
      gang.roles.push_back({.spec = spec, .pods = 1});
    }
    // Only a gang of equal pods may have spare pods. In a gang of unlike pods, the choice
    // of the pods to leave out would decide whether the gang can complete.
    const uint64_t spare = pods_ == ToyPods::Alike ? rng_.below(toy.specs.size()) : 0;
    const size_t pods = toy.specs.size();
    toy.groups.push_back({.pods = pods, .needed = static_cast<int>(pods - spare)});
  }
  // The gang's minimum is the sum of the roles' minimums. So the gang can start once each role has
  // its minimum.
  void add_roles(Toy& toy, GangSpec& gang) {
    for (int roles = 0; roles < 2; ++roles) {
      const auto pods = static_cast<int32_t>(1 + rng_.below(2));
      const auto needed = static_cast<int32_t>(1 + rng_.below(static_cast<uint64_t>(pods)));
      const PodSpec spec = random_spec();
      gang.roles.push_back({.spec = spec, .pods = pods, .min_available = needed});
      const auto count = static_cast<size_t>(pods);
      toy.groups.push_back({.first = toy.specs.size(), .pods = count, .needed = needed});
      toy.specs.insert(toy.specs.end(), count, spec);
    }
  }
  void end(Toy& toy) {
    world_.remove(toy.job);
    toys_.erase(toys_.begin() + (&toy - toys_.data()));
    add();
  }
  void assign(Toy& toy, uint32_t rank, size_t node) {
    uint32_t everyone = (1U << toys_.size()) - 1;
    Pool pool = pool_beside(everyone);
    if (!pool.put(node, toy.specs[rank])) return;
    world_.assign(toy.job, rank, static_cast<uint32_t>(node));
    toy.nodes[rank] = static_cast<int>(node);
    if (!toy.is_complete()) return;
    toy.runs = true;
    world_.set_phase(toy.job, JobPhase::Starting);
  }
  uint32_t candidates() const {
    uint32_t set = 0;
    for (size_t i = 0; i < toys_.size(); ++i) set |= uint32_t{toys_[i].is_candidate()} << i;
    return set;
  }
  std::vector<JobId> jobs_of(uint32_t set) const {
    std::vector<JobId> jobs;
    for (size_t i = 0; i < toys_.size(); ++i) {
      if ((set >> i & 1) != 0) jobs.push_back(toys_[i].job);
    }
    std::ranges::sort(jobs);
    return jobs;
  }
  Pool pool_beside(uint32_t holders) const {
    Pool pool{{nodes_.begin(), nodes_.end()}, std::vector<int64_t>(nodes_.size(), kNodeCpu)};
    for (size_t i = 0; i < toys_.size(); ++i) {
      for (size_t p = 0; (holders >> i & 1) != 0 && p < toys_[i].nodes.size(); ++p) {
        if (toys_[i].nodes[p] < 0) continue;
        EXPECT_TRUE(pool.put(static_cast<size_t>(toys_[i].nodes[p]), toys_[i].specs[p]));
      }
    }
    return pool;
  }
  static bool can_complete(const Toy& toy, Pool& pool) {
    std::vector<PodSpec> missing;
    for (const ToyGroup& group : toy.groups) {
      int more = group.needed - toy.assigned(group);
      for (size_t p = group.first; p < group.first + group.pods && more > 0; ++p) {
        if (toy.nodes[p] >= 0) continue;
        missing.push_back(toy.specs[p]);
        --more;
      }
    }
    return can_place(missing, pool);
  }
  static bool can_place(std::vector<PodSpec>& missing, Pool& pool) {
    if (missing.empty()) return true;
    const PodSpec spec = missing.back();
    missing.pop_back();
    bool found = false;
    for (size_t n = 0; n < pool.gpus.size() && !found; ++n) {
      found = pool.put(n, spec) && can_place(missing, pool);
      pool.put(n, spec, 1);
    }
    missing.push_back(spec);
    return found;
  }

  Rng& rng_;
  ToyPods pods_;
  std::vector<int32_t> nodes_;
  GangWorld world_;
  std::vector<Toy> toys_;
};

TEST(DeadlockProperty, TheReductionAgreesWithEveryOrderOfCompletion) {
  int deadlocks = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng{seed};
    Toys toys{rng, ToyPods::Alike};
    for (int look = 0; look < 30; ++look) {
      for (uint64_t steps = 1 + rng.below(3); steps > 0; --steps) toys.step();
      toys.world().wait(1_s);
      const std::vector<JobId> stuck = toys.stuck();
      const bool is_deadlock =
          std::ranges::any_of(stuck, [&](JobId job) { return toys.is_feasible(job); });
      deadlocks += is_deadlock;
      const std::vector<JobId> expected = is_deadlock ? stuck : std::vector<JobId>{};
      ASSERT_EQ(toys.world().detector->members_present(), expected)
          << "seed " << seed << ", look " << look;
      ASSERT_EQ(toys.world().detector->deadlocks_present(), is_deadlock ? 1u : 0u);
    }
  }
  EXPECT_GT(deadlocks, 1000);
}

// Compares the detector with the reference model after each step. Returns the number of steps with
// a deadlock. For unlike pods, the detector's search for places has a limit. Clusters this small
// stay below it, so the detector is exact.
int deadlocks_of(ToyPods pods, uint64_t seeds) {
  int deadlocks = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Rng rng{seed};
    Toys toys{rng, pods};
    for (int step = 0; step < 30; ++step) {
      toys.step();
      toys.world().wait(1_s);
      const std::vector<JobId> stuck = toys.stuck();
      const std::vector<JobId> found = toys.world().detector->members_present();
      const bool is_deadlock =
          std::ranges::any_of(stuck, [&](JobId job) { return toys.is_feasible(job); });
      deadlocks += is_deadlock;
      const std::vector<JobId> expected = is_deadlock ? stuck : std::vector<JobId>{};
      EXPECT_EQ(found, expected) << "seed " << seed << ", step " << step;
      if (found != expected) return deadlocks;
    }
  }
  return deadlocks;
}

TEST(DeadlockProperty, WithUnlikePodsOfASmallClusterItAgreesToo) {
  EXPECT_GT(deadlocks_of(ToyPods::Unlike, 1000), 100);
}

TEST(DeadlockProperty, WithRolesThatHaveMinimumsItAgreesToo) {
  EXPECT_GT(deadlocks_of(ToyPods::OfRoles, 600), 30);
}

}  // namespace
}  // namespace orrery

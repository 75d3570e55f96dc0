#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/control_plane/etcd/etcd.hpp"
#include "models/control_plane/nodes/node_lifecycle.hpp"
#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

// Members of etcd fail and recover while clients write and read; in the end all members are up.
// etcd must answer each accepted request exactly once. A write fails only after it waited 7 s
// without a leader. Each write is answered within 7.5 s.
void etcd_answers_once(uint64_t seed) {
  Rng rng{seed};
  Engine engine;
  EtcdParams params{.members = static_cast<int32_t>(1 + rng.below(5)),
                    .commit_latency = nearest_ns(rng.uniform() * 0.01),
                    .write_rate_max = 2'000,
                    .quota = 2_MiB};
  Etcd etcd{engine, params};
  struct {
    std::vector<int> answers;
    std::vector<bool> accepted;
    uint64_t committed = 0, failed = 0;
  } results;
  const Time end = Time{} + 60_s;
  for (int i = 0; i < 3'000; ++i) {
    engine.at(Time{} + nearest_ns(rng.uniform() * 60), Label{"test.asked"}, [&] {
      const size_t index = results.answers.size();
      results.answers.push_back(0);
      if (rng.chance(0.3)) {
        etcd.read({.bytes = Bytes{1'000}}, [&results, index] { ++results.answers[index]; });
        results.accepted.push_back(true);
        return;
      }
      const Etcd::Write write{.bytes = Bytes{2'000},
                              .change = static_cast<EtcdChange>(rng.below(4))};
      const auto done = [&, index, write, asked = engine.now()](bool is_committed) {
        ++results.answers[index];
        ++(is_committed ? results.committed : results.failed);
        const Duration waited = engine.now() - asked;
        EXPECT_LT(waited, 7'500_ms);  // 7 s, or one commit after a leader was elected
        if (is_committed) {
          etcd.store(write);
        } else {
          EXPECT_GE(waited, 7_s);
        }
      };
      results.accepted.push_back(
          etcd.propose({.bytes = write.bytes, .is_deletion = write.change == EtcdChange::Delete},
                       done) == EtcdAnswer::Accepted);
    });
  }
  for (int i = 0; i < 60; ++i) {
    engine.at(Time{} + nearest_ns(rng.uniform() * 60), Label{"test.member"}, [&] {
      etcd.set_member_up(static_cast<uint32_t>(rng.below(static_cast<uint64_t>(params.members))),
                         rng.chance(0.5));
    });
  }
  engine.at(end + 1_ns, Label{"test.all_up"}, [&] {
    for (int32_t m = 0; m < params.members; ++m) etcd.set_member_up(static_cast<uint32_t>(m), true);
  });
  engine.run();
  for (size_t i = 0; i < results.answers.size(); ++i) {
    ASSERT_EQ(results.answers[i], results.accepted[i] ? 1 : 0);
  }
  EXPECT_EQ(etcd.waiting(), 0U);
  EXPECT_EQ(etcd.counters().writes, results.committed);
  EXPECT_EQ(etcd.counters().timed_out, results.failed);
}

TEST(EtcdProperty, WhatIsAcceptedIsAnsweredOnceWhateverMembersAreLost) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 30 : 100); ++seed) {
    SCOPED_TRACE(seed);
    etcd_answers_once(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(mark_count("etcd.leader_lost"), 0U);
  EXPECT_GT(mark_count("etcd.timed_out"), 0U);
  EXPECT_GT(mark_count("etcd.out_of_space"), 0U);
}

// The node lifecycle controller as a plain loop that checks every node of every zone every five
// seconds.
class PlainLifecycle {
 public:
  PlainLifecycle(const NodeLifecycleParams& params, std::vector<uint32_t> zones)
      : params_{params}, zone_of_{std::move(zones)}, nodes_(zone_of_.size()) {
    zones_.resize(1 + *std::ranges::max_element(zone_of_));
    for (Zone& zone : zones_) zone.rate = params.taint_rate;
  }
  void silent(uint32_t node, int64_t at) { nodes_[node].silent_since = at; }
  void heartbeat(uint32_t node) { nodes_[node].silent_since = -1; }
  // Call once per second. Checks all nodes every 5 s, then taints nodes at the rate of each zone,
  // then evicts the pods of nodes that were tainted 300 s ago.
  void step(int64_t now) {
    if (now % 5 == 0) look(now);
    for (Zone& zone : zones_) {
      while (!zone.queue.empty() && zone.rate > 0 && zone.next <= static_cast<double>(now) + 1e-6) {
        Node& node = nodes_[zone.queue.front()];
        zone.queue.erase(zone.queue.begin());
        node.tainted_at = now;
        zone.next = static_cast<double>(now) + 1 / zone.rate;
        ++tainted;
      }
    }
    for (Node& node : nodes_) evicted += node.tainted_at >= 0 && now - node.tainted_at == 300;
  }
  int64_t tainted = 0, evicted = 0, not_ready = 0;

 private:
  struct Node {
    int64_t silent_since = -1;  // second from which the node is silent; -1: it sends heartbeats
    bool is_ready = true;
    int64_t tainted_at = -1;
  };
  struct Zone {
    std::vector<uint32_t> queue;
    ZoneState state = ZoneState::Normal;
    double rate = 0, next = 0;
  };
  void lift(uint32_t n) {
    nodes_[n].tainted_at = -1;
    std::erase(zones_[zone_of_[n]].queue, n);
  }
  void set_pace(Zone& zone, int64_t size, int64_t now) {
    const bool had_token = zone.rate > 0 && zone.next <= static_cast<double>(now) + 1e-6;
    zone.rate = zone.state != ZoneState::PartialDisruption ? params_.taint_rate
                : size > params_.large_zone                ? params_.secondary_taint_rate
                                                           : 0;
    zone.next = static_cast<double>(now) + (had_token || zone.rate == 0 ? 0 : 1 / zone.rate);
  }
  void look(int64_t now) {
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!nodes_[n].is_ready && nodes_[n].silent_since < 0) {
        nodes_[n].is_ready = true;
        lift(n);
      }
    }
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      if (!node.is_ready || node.silent_since < 0 || now - node.silent_since <= 40) continue;
      node.is_ready = false;
      ++not_ready;
      if (!cut_off_) zones_[zone_of_[n]].queue.push_back(n);
    }
    std::vector<int64_t> size(zones_.size()), bad(zones_.size());
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      ++size[zone_of_[n]];
      bad[zone_of_[n]] += !nodes_[n].is_ready;
    }
    const bool all = size == bad;
    for (size_t z = 0; z < zones_.size(); ++z) {
      const double share = static_cast<double>(bad[z]) / static_cast<double>(size[z]);
      const ZoneState state = bad[z] == size[z]             ? ZoneState::FullDisruption
                              : bad[z] > 2 && share >= 0.55 ? ZoneState::PartialDisruption
                                                            : ZoneState::Normal;
      if (state != zones_[z].state && !all && !cut_off_) {
        zones_[z].state = state;
        set_pace(zones_[z], size[z], now);
      }
      zones_[z].state = state;
    }
    if (all && !cut_off_) {
      for (uint32_t n = 0; n < nodes_.size(); ++n) lift(n);
      for (Zone& zone : zones_) zone.rate = 0;
    } else if (!all && cut_off_) {
      for (size_t z = 0; z < zones_.size(); ++z) set_pace(zones_[z], size[z], now);
      for (uint32_t n = 0; n < nodes_.size(); ++n) {
        if (!nodes_[n].is_ready) zones_[zone_of_[n]].queue.push_back(n);
      }
    }
    cut_off_ = all;
  }

  NodeLifecycleParams params_;
  std::vector<uint32_t> zone_of_;
  std::vector<Node> nodes_;
  std::vector<Zone> zones_;
  bool cut_off_ = false;
};

void lifecycle_is_as_plain(uint64_t seed) {
  Rng rng{seed};
  const auto nodes = static_cast<uint32_t>(1 + rng.below(80));
  const uint64_t zones = 1 + rng.below(3);
  std::vector<uint32_t> zone_of{0};
  for (uint32_t n = 1; n < nodes; ++n) zone_of.push_back(static_cast<uint32_t>(rng.below(zones)));
  std::vector<uint32_t> dense = zone_of;  // numbers of the zones that have a node
  std::ranges::sort(dense);
  dense.erase(std::ranges::unique(dense).begin(), dense.end());
  for (uint32_t& zone : zone_of)
    zone = static_cast<uint32_t>(std::ranges::lower_bound(dense, zone) - dense.begin());

  Engine engine;
  NodeLifecycle lifecycle{engine, {}, zone_of};
  PlainLifecycle plain{{}, zone_of};
  std::vector<bool> is_silent(nodes, false);
  for (int64_t now = 1; now < 8'000; ++now) {
    engine.run(Time{} + 1_s * now);
    plain.step(now);
    ASSERT_EQ(static_cast<int64_t>(lifecycle.counters().not_ready), plain.not_ready) << now;
    ASSERT_EQ(static_cast<int64_t>(lifecycle.counters().tainted), plain.tainted) << now;
    ASSERT_EQ(static_cast<int64_t>(lifecycle.counters().evicted), plain.evicted) << now;
    const bool is_storm = (now / 1'000) % 2 == 1;
    for (uint32_t n = 0; n < nodes; ++n) {
      if (!rng.chance(is_silent[n] ? (is_storm ? 0.001 : 0.005) : (is_storm ? 0.02 : 0.0003)))
        continue;
      is_silent[n] = !is_silent[n];
      engine.at(Time{} + 1_s * now, Label{"test.results"}, [&, n, silent = is_silent[n]] {
        if (silent)
          lifecycle.node_silent({n}, engine.now());
        else
          lifecycle.node_alive({n});
      });
      if (is_silent[n])
        plain.silent(n, now);
      else
        plain.heartbeat(n);
    }
    engine.at(Time{} + 1_s * now, Label{"test.second_over"}, [] {});
    engine.run(Time{} + 1_s * now);
  }
}

TEST(NodeLifecycleProperty, ItActsAsOneThatLooksAtEveryNodeAllTheTime) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 10 : 30); ++seed) {
    SCOPED_TRACE(seed);
    lifecycle_is_as_plain(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(mark_count("node_lifecycle.cut_off"), 0U);
  EXPECT_GT(mark_count("node_lifecycle.reconnected"), 0U);
}

}  // namespace
}  // namespace orrery

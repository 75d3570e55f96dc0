#include "models/control_plane/nodes/nodes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Nodes::Nodes(Sim sim, const NodesParams& params, NodeApi& api,
             std::span<const uint32_t> zone_of_node, std::vector<Joining> joining)
    : sim_{sim},
      api_{api},
      health_{sim.engine, params.lifecycle, params.boot.heartbeats, zone_of_node},
      boots_{sim, params.boot, api, static_cast<uint32_t>(zone_of_node.size())},
      joining_{std::move(joining)},
      ready_{static_cast<uint32_t>(zone_of_node.size() - joining_.size())},
      is_ready_(zone_of_node.size(), true),
      samples_{sim.recorder, "/timeline/nodes", "Nodes as the control plane sees them."} {
  std::ranges::stable_sort(joining_, {}, &Joining::at);
  for (const Joining& j : joining_) {
    is_ready_[j.node.index] = false;
    boots_.absent(j.node);
    health_.absent(j.node);
  }
  boots_.registered.connect([this](NodeId node) {
    health_.registered(node);
    registered.emit(node);
  });
  boots_.ready.connect([this](NodeId node) {
    is_ready_[node.index] = true;
    ++ready_;
    health_.came_back(node);
    ready.emit(node);
    give_up(node, true);
  });
  health_.lifecycle().evicted.connect([this](NodeId node) {
    if (health_.is_alive(node)) {  // nobody can tell it while it is cut off
      ORRERY_MARK("nodes.evicted_alive");
      return;
    }
    ++given_up_;
    give_up(node, false);
  });
}

void Nodes::start() {
  if (has_more_to_come()) come_next();
}

void Nodes::come_next() {
  sim_.engine.at(
      joining_[come_].at, Label{"nodes.join"},
      [this] {
        const Time now = sim_.engine.now();
        while (come_ < joining_.size() && joining_[come_].at <= now) {
          comes.emit(joining_[come_++].node);
        }
        if (has_more_to_come()) come_next();
      },
      Phase::Fault);
}

void Nodes::died(NodeId node) {
  if (is_ready_[node.index]) --ready_;
  is_ready_[node.index] = false;
  boots_.died(node);
  health_.died(node);
}

bool Nodes::removed(NodeId node) {
  if (is_ready_[node.index]) --ready_;
  is_ready_[node.index] = false;
  boots_.died(node);
  boots_.absent(node);
  if (!health_.is_registered(node)) return false;
  health_.absent(node);
  return true;
}

void Nodes::give_up(NodeId node, bool is_back) {
  api_.delete_dead_pods(
      node, is_back, [this, node, lost_by = sim_.engine.now()] { pods_gone.emit(node, lost_by); });
}

void Nodes::sample(Time now) {
  const auto waiting = static_cast<uint32_t>(boots_.waiting());
  samples_.emit({.time = now,
                 .ready = ready_,
                 .waiting = waiting,
                 .booting = boots_.booting() - std::min(waiting, boots_.booting()),
                 .not_ready = health_.lifecycle().not_ready(),
                 .tainted = health_.tainted()});
}

void Nodes::add_summary(Recorder& recorder) const {
  const auto count = [&](std::string_view name, uint64_t n, std::string_view unit,
                         std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), unit, doc);
  };
  const NodeBoots::Counters& boots = boots_.counters();
  count("nodes_joined", boots.joined, "nodes", "nodes that joined and took pods");
  count("nodes_came_back", boots.came_back, "", "times a repaired node took pods again");
  count("boot_requests", boots.requests, "requests", "of nodes that joined or came back");
  count("boot_requests_again", boots.again, "requests", "of these, begun anew after a failure");
  const NodeLifecycle::Counters& health = health_.lifecycle().counters();
  count("nodes_not_ready", health.not_ready, "", "times a silent node was noticed");
  count("nodes_given_up", given_up_, "", "times pods of a dead node were evicted");
  count("cut_offs", health.full_disruptions, "", "times no node was heard of");
  std::vector<Duration> times = boots_.join_times();
  if (times.empty()) return;
  std::ranges::sort(times);
  const auto quantile = [&](double q) {
    const double rank = std::ceil(q * static_cast<double>(times.size()));
    return times[static_cast<size_t>(std::max(rank, 1.0)) - 1].seconds();
  };
  recorder.add_summary("join_p50", quantile(0.5), "s",
                       "from asking to join until a node took pods");
  recorder.add_summary("join_p99", quantile(0.99), "s", "likewise");
}

}  // namespace orrery

#include "models/control_plane/nodes/nodes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Nodes::Nodes(Sim sim, const NodesParams& params, NodeApi& api, NodePresence& presence,
             std::span<const uint32_t> zone_of_node, std::vector<Joining> joining)
    : sim_{sim},
      api_{api},
      presence_{presence},
      health_{sim.engine, params.lifecycle, params.boot.heartbeats, zone_of_node},
      boots_{sim, params.boot, api, static_cast<uint32_t>(zone_of_node.size())},
      joining_{std::move(joining)},
      samples_{sim.recorder, "/timeline/nodes",
               "Nodes over time: how many are up, boot, or are marked NotReady."} {
  std::ranges::stable_sort(joining_, {}, &Joining::at);
  for (const Joining& j : joining_) {
    ORRERY_CHECK(presence_.has(j.node, NodeReason::Absent), "a node that joins is absent");
    boots_.absent(j.node);
    health_.absent(j.node);
  }
  boots_.registered.connect([this](NodeId node) {
    health_.registered(node);
    presence_.node_registered.emit(node);
  });
  boots_.ready.connect([this](NodeId node) {
    health_.came_back(node);
    presence_.remove(node, NodeReason::Booting);
    api_.delete_dead_pods(node, true);
  });
  health_.lifecycle().evicted.connect([this](NodeId node) {
    if (health_.is_alive(node)) {  // the node lives, but its heartbeats do not arrive
      ORRERY_MARK("nodes.evicted_alive");
      return;
    }
    ++given_up_;
    api_.delete_dead_pods(node, false);
  });
  api_.cut_off.connect(health_, &NodeHealth::set_cut_off);
}

void Nodes::connect(NodeNews& nodes) {
  nodes.node_down.connect(*this, &Nodes::died);
  nodes.boot_broken.connect(*this, &Nodes::died);
  nodes.node_boots.connect(boots_, &NodeBoots::boot);
  nodes.node_taken_away.connect(*this, &Nodes::taken_away);
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
          presence_.remove(joining_[come_++].node, NodeReason::Absent);
        }
        if (has_more_to_come()) come_next();
      },
      Phase::Fault);
}

// Does nothing for a removed node: taken_away() deletes its Node object, so the object is never
// marked NotReady.
void Nodes::died(NodeId node, NodeReason why) {
  if (why == NodeReason::Absent) return;
  boots_.died(node);
  health_.died(node);
}

// The pods of a removed node are deleted at once, without a wait for missing heartbeats.
void Nodes::taken_away(NodeId node) {
  boots_.died(node);
  boots_.absent(node);
  if (health_.is_registered(node)) {
    health_.absent(node);
    presence_.node_deregistered.emit(node);
  }
  api_.delete_dead_pods(node, false);
}

void Nodes::sample(Time now) {
  const auto waiting = static_cast<uint32_t>(boots_.waiting());
  samples_.emit({.time = now,
                 .ready = presence_.nodes() - presence_.nodes_down(),
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
  count("nodes_joined", boots.joined, "nodes", "nodes that joined and became Ready");
  count("nodes_came_back", boots.came_back, "", "times that a repaired node became Ready again");
  count("boot_requests", boots.requests, "requests",
        "requests that booting nodes sent to join or to come back; retries included");
  count("boot_requests_again", boots.again, "requests",
        "requests that booting nodes sent again, because the API client's own retries failed");
  const NodeLifecycle::Counters& health = health_.lifecycle().counters();
  count("nodes_not_ready", health.not_ready, "",
        "times that a node was marked NotReady because its heartbeats stopped");
  count("nodes_given_up", given_up_, "",
        "times that the pods of a dead node were evicted, because it did not come back in time");
  count("cut_offs", health.full_disruptions, "",
        "times that the heartbeats of all nodes stopped arriving");
  std::vector<Duration> times = boots_.join_times();
  if (times.empty()) return;
  std::ranges::sort(times);
  const auto quantile = [&](double q) {
    const double rank = std::ceil(q * static_cast<double>(times.size()));
    return times[static_cast<size_t>(std::max(rank, 1.0)) - 1].seconds();
  };
  recorder.add_summary("join_p50", quantile(0.5), "s",
                       "median time that a node took from the start of its boot until Ready");
  recorder.add_summary(
      "join_p99", quantile(0.99), "s",
      "99th percentile of the time that a node took from the start of its boot until "
      "Ready");
}

}  // namespace orrery

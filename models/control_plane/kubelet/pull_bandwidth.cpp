#include "models/control_plane/kubelet/pull_bandwidth.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

PullBandwidth::PullBandwidth(Engine& engine, const ImagePullParams& params, uint32_t nodes,
                             Done done)
    : engine_{engine},
      registry_{static_cast<double>(params.registry.bits_per_s) /
                static_cast<double>(params.node.bits_per_s)},
      done_{std::move(done)} {
  nodes_.resize(nodes);
}

void PullBandwidth::add(NodeId id, ImageId image, Duration alone) {
  leave(id);
  Node& node = nodes_[id];
  node.pulls.push_back({node.now + static_cast<double>(alone.ns), image});
  std::ranges::push_heap(node.pulls, std::greater{});
  enter(id);
  share();
}

void PullBandwidth::clear(NodeId id) {
  leave(id);
  nodes_[id].pulls.clear();
  enter(id);
  share();
}

void PullBandwidth::leave(NodeId id) {
  Node& node = nodes_[id];
  if (node.pulls.empty()) return;
  ProcessorSharing& service = with_pulls(node.pulls.size());
  node.now += node.asked - service.left_ns(id.index);
  service.erase(id.index);
}

void PullBandwidth::enter(NodeId id) {
  Node& node = nodes_[id];
  if (node.pulls.empty()) {
    node.now = 0;
    return;
  }
  while (nodes_with_.size() < node.pulls.size()) {
    nodes_with_.push_back(std::make_unique<ProcessorSharing>(
        engine_, 1, Label{"control.image_pulled"}, [this](uint32_t n) { ended({n}); }));
  }
  node.asked = std::max(node.pulls.front().end - node.now, 0.0);
  with_pulls(node.pulls.size()).add_ns(id.index, node.asked);
}

// Sets the rate of each pull, in units of a node's bandwidth. Pulls share the registry's
// bandwidth equally, but a pull gets at most 1 / (pulls on its node). Pulls on the nodes with the
// most pulls have the lowest limit and come first. Bandwidth that they cannot use goes to the other
// pulls.
void PullBandwidth::share() {
  double pulls = 0, left = registry_;
  for (size_t count = 1; count <= nodes_with_.size(); ++count) {
    pulls += static_cast<double>(with_pulls(count).size() * count);
  }
  for (size_t count = nodes_with_.size(); count > 0; --count) {
    ProcessorSharing& service = with_pulls(count);
    if (service.size() == 0) continue;
    const auto nodes = static_cast<double>(service.size()), each = static_cast<double>(count);
    const double rate = std::min(1 / each, left / pulls);
    service.set_cores(nodes * rate);
    left -= nodes * each * rate;
    pulls -= nodes * each;
  }
}

void PullBandwidth::ended(NodeId id) {
  Node& node = nodes_[id];
  const Pull pull = node.pulls.front();
  std::ranges::pop_heap(node.pulls, std::greater{});
  node.pulls.pop_back();
  node.now = pull.end;
  enter(id);
  share();
  done_(id, pull.image);
}

}  // namespace orrery

// models/control_plane/kubelet/pull_bandwidth.hpp -- rates of image pulls by nodes that share a
// registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/control_plane/base/processor_sharing.hpp"
#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

using ImageId = Id<struct ImageTag>;

// The pulls of a node share its bandwidth equally, and all pulls share the registry max-min fairly.
// Example: with a registry of 10 Gbit/s and nodes of 4 Gbit/s, two nodes pull at 4 Gbit/s each, and
// three nodes at 3.3 Gbit/s each. Nodes with equally many pulls have equal rates, so nodes are
// grouped by their number of pulls. The number of groups is the largest number of simultaneous
// pulls that any node has had. An event costs O(log nodes + log pulls) and one step for each group.
class PullBandwidth {
 public:
  using Done = std::function<void(NodeId node, ImageId image)>;
  PullBandwidth(Engine& engine, const ImagePullParams& params, uint32_t nodes, Done done);

  // `alone` is the duration of the pull without other pulls.
  void add(NodeId node, ImageId image, Duration alone);
  void clear(NodeId node);  // without calling `done`

 private:
  struct Pull {
    double end;  // in the node's virtual time, as in ProcessorSharing
    ImageId image;
    bool operator>(const Pull& o) const { return end != o.end ? end > o.end : image > o.image; }
  };
  struct Node {
    double now = 0;           // the node's virtual time at the last update
    double asked = 0;         // virtual time from `now` until the first pull ends
    std::vector<Pull> pulls;  // a heap, the first to end on top
  };
  ProcessorSharing& with_pulls(size_t count) { return *nodes_with_[count - 1]; }
  void leave(NodeId node);
  void enter(NodeId node);
  void share();
  void ended(NodeId node);

  Engine& engine_;
  double registry_;  // the registry's bandwidth divided by a node's
  Done done_;
  IdVector<NodeId, Node> nodes_;
  std::vector<std::unique_ptr<ProcessorSharing>> nodes_with_;  // nodes with n pulls at index n - 1
};

}  // namespace orrery

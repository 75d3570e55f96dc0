// models/control_plane/kubelet/pull_bandwidth.hpp -- how fast images come to nodes that share a
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

// The pulls of a node share its bandwidth, and all of them the registry's, max-min fairly: each is
// as fast as the others of its node, and nodes with as many pulls are as fast as one another. So
// nodes are kept by their number of pulls, each waiting for the first of these to end, and an event
// costs the logarithm of nodes and pulls, and as many steps as there are such numbers.
class PullBandwidth {
 public:
  using Done = std::function<void(NodeId node, ImageId image)>;
  PullBandwidth(Engine& engine, const ImagePullParams& params, uint32_t nodes, Done done);

  void add(NodeId node, ImageId image, Duration alone);  // how long it takes a node by itself
  void clear(NodeId node);                               // without a call of `done`

 private:
  struct Pull {
    double end;  // in the time of its node, of which one nanosecond is one of a pull alone
    ImageId image;
    bool operator>(const Pull& o) const { return end != o.end ? end > o.end : image > o.image; }
  };
  struct Node {
    double now = 0;           // when it was last looked at
    double asked = 0;         // from then until its first pull ends
    std::vector<Pull> pulls;  // a heap, the first to end on top
  };
  ProcessorSharing& with_pulls(size_t count) { return *nodes_with_[count - 1]; }
  void leave(NodeId node);
  void enter(NodeId node);
  void share();
  void ended(NodeId node);

  Engine& engine_;
  double registry_;  // in nodes
  Done done_;
  IdVector<NodeId, Node> nodes_;
  std::vector<std::unique_ptr<ProcessorSharing>> nodes_with_;  // one pull, two, ...
};

}  // namespace orrery

// models/control_plane/image_pulls.hpp -- images that nodes fetch before they start containers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/control_plane/kubelet_params.hpp"
#include "models/control_plane/processor_sharing.hpp"
#include "models/network/flow_network.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

using ImageId = Id<struct ImageTag>;

// A node pulls one image after the other, or some at once; all pulls share the registry, and those
// of a node its bandwidth, max-min fairly. One pull a node is the same as jobs that share cores,
// which takes thousands of nodes no longer than a few. An image stays until the node is renewed.
class ImagePulls {
 public:
  struct Counters {
    uint64_t asked = 0, present = 0, pulled = 0;
  };

  ImagePulls(Engine& engine, const ImagePullParams& params, uint32_t nodes);

  ImageId add_image(Bytes size) { return sizes_.push_back(size); }
  // Calls `done` once the image is on the node: at once, if it was there and the node is not busy.
  void ensure(NodeId node, ImageId image, Callback done);
  bool has(NodeId node, ImageId image) const;
  // The node is lost: what it had, pulled and waited for is forgotten, without a call.
  void renew(NodeId node);

  size_t waiting(NodeId node) const { return nodes_[node].queue.size(); }
  size_t pulling(NodeId node) const { return nodes_[node].pulls.size(); }
  const Counters& counters() const { return counters_; }

 private:
  struct Request {
    ImageId image;
    Callback done;
  };
  struct Pull {
    ImageId image;
    FlowId flow;                 // with several pulls a node
    EventId begins;              // with one
    std::vector<Callback> done;  // of all who asked meanwhile
  };
  struct Node {
    LinkId link;
    std::vector<ImageId> images;  // sorted
    std::vector<Request> queue;   // never long: a node has few pods
    std::vector<Pull> pulls;
  };
  bool is_full(const Node& node) const;
  void pull_next(NodeId node);
  void start(NodeId node, Request request);
  void move(NodeId node);
  void pulled(NodeId node, ImageId image);

  Engine& engine_;
  ImagePullParams params_;
  std::optional<ProcessorSharing> alone_;  // with one pull a node; by node
  FlowNetwork flows_;
  LinkId registry_;
  IdVector<ImageId, Bytes> sizes_;
  IdVector<NodeId, Node> nodes_;
  Counters counters_;
};

}  // namespace orrery

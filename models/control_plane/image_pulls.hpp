// models/control_plane/image_pulls.hpp -- images that nodes fetch before they start containers.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control_plane/kubelet_params.hpp"
#include "models/network/flow_network.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

using ImageId = Id<struct ImageTag>;

// A node pulls one image after the other, or some at once; all pulls share the registry, and those
// of a node its bandwidth, max-min fairly. An image stays on the node, until the node is renewed.
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
    FlowId flow;
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
  void pulled(NodeId node, ImageId image);

  ImagePullParams params_;
  FlowNetwork flows_;
  LinkId registry_;
  IdVector<ImageId, Bytes> sizes_;
  IdVector<NodeId, Node> nodes_;
  Counters counters_;
};

}  // namespace orrery

// models/control_plane/kubelet/image_pulls.hpp -- image pulls of nodes before containers start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "models/control_plane/kubelet/pull_bandwidth.hpp"
#include "sim/core/callback.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// A node pulls images one after another, or several in parallel. PullBandwidth sets the rates of
// the pulls. An image stays on its node until renew().
class ImagePulls {
 public:
  struct Counters {
    uint64_t asked = 0, present = 0, pulled = 0;
  };

  ImagePulls(Engine& engine, const ImagePullParams& params, uint32_t nodes);

  ImageId add_image(Bytes size) { return sizes_.push_back(size); }
  // Calls `done` when the image is on the node. A request for a present image, too, waits until a
  // slot for pulls (image_pulls.parallel) is free. If the image is present and a slot is free now,
  // ensure() itself calls `done`.
  void ensure(NodeId node, ImageId image, Callback done);
  bool has(NodeId node, ImageId image) const;
  // Drops the images, pulls and waiting callbacks of a lost node. The callbacks are not called.
  void renew(NodeId node);

  const Counters& counters() const { return counters_; }

 private:
  struct Request {
    ImageId image;
    Callback done;
  };
  struct Pull {
    ImageId image;
    EventId begins;  // event at which the first byte arrives
    std::vector<Callback> done;
  };
  struct Node {
    std::vector<ImageId> images;  // sorted
    std::vector<Request> queue;
    size_t first = 0;  // index in `queue` of the first waiting request
    bool is_waiting() const { return first < queue.size(); }
    std::vector<Pull> pulls;
  };
  bool is_full(const Node& node) const;
  static Request take_first(Node& node);
  void pull_next(NodeId node);
  void start(NodeId node, Request request);
  void move(NodeId node, ImageId image);
  void pulled(NodeId node, ImageId image);

  Engine& engine_;
  ImagePullParams params_;
  PullBandwidth bandwidth_;
  IdVector<ImageId, Bytes> sizes_;
  IdVector<NodeId, Node> nodes_;
  Counters counters_;
};

}  // namespace orrery

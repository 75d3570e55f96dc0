#include "models/control_plane/kubelet/image_pulls.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

ImagePulls::ImagePulls(Engine& engine, const ImagePullParams& params, uint32_t nodes)
    : engine_{engine},
      params_{params},
      bandwidth_{engine, params, nodes,
                 [this](NodeId node, ImageId image) { pulled(node, image); }} {
  nodes_.resize(nodes);
}

bool ImagePulls::has(NodeId id, ImageId image) const {
  return std::ranges::binary_search(nodes_[id].images, image);
}

bool ImagePulls::is_full(const Node& node) const {
  return params_.parallel > 0 && node.pulls.size() >= static_cast<size_t>(params_.parallel);
}

// While all slots for pulls are taken, a request waits even if its image is present. In Kubernetes,
// such a request waits only if its imagePullPolicy is Always.
void ImagePulls::ensure(NodeId id, ImageId image, Callback done) {
  ++counters_.asked;
  nodes_[id].queue.push_back({image, std::move(done)});
  pull_next(id);
}

ImagePulls::Request ImagePulls::take_first(Node& node) {
  Request request = std::move(node.queue[node.first++]);
  if (!node.is_waiting()) {
    node.queue.clear();
    node.first = 0;
  }
  return request;
}

void ImagePulls::pull_next(NodeId id) {
  while (nodes_[id].is_waiting() && !is_full(nodes_[id])) {
    Request request = take_first(nodes_[id]);
    if (has(id, request.image)) {
      ++counters_.present;
      request.done();
    } else {
      start(id, std::move(request));
    }
  }
}

void ImagePulls::start(NodeId id, Request request) {
  Node& node = nodes_[id];
  const auto same = std::ranges::find(node.pulls, request.image, &Pull::image);
  if (same != node.pulls.end()) return same->done.push_back(std::move(request.done));
  node.pulls.push_back({.image = request.image, .begins = {}, .done = {}});
  node.pulls.back().done.push_back(std::move(request.done));
  const ImageId image = request.image;
  if (params_.latency == Duration{}) return move(id, image);
  node.pulls.back().begins = engine_.after(params_.latency, Label{"control.image_comes"},
                                           [this, id, image] { move(id, image); });
}

void ImagePulls::move(NodeId id, ImageId image) {
  const Duration alone = sizes_[image] / params_.node;
  if (alone == Duration{}) return pulled(id, image);
  bandwidth_.add(id, image, alone);
}

void ImagePulls::pulled(NodeId id, ImageId image) {
  Node& node = nodes_[id];
  const auto pull = std::ranges::find(node.pulls, image, &Pull::image);
  ORRERY_CHECK(pull != node.pulls.end(), "a pulled image was requested");
  ++counters_.pulled;
  std::vector<Callback> done = std::move(pull->done);
  node.pulls.erase(pull);
  node.images.insert(std::ranges::lower_bound(node.images, image), image);
  pull_next(id);
  for (Callback& callback : done) callback();
}

void ImagePulls::renew(NodeId id) {
  Node& node = nodes_[id];
  for (const Pull& pull : node.pulls) engine_.cancel(pull.begins);
  bandwidth_.clear(id);
  node.pulls.clear();
  node.queue.clear();
  node.first = 0;
  node.images.clear();
}

}  // namespace orrery

#include "models/control_plane/image_pulls.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

ImagePulls::ImagePulls(Engine& engine, const ImagePullParams& params, uint32_t nodes)
    : engine_{engine},
      params_{params},
      flows_{engine},
      registry_{flows_.add_link(params.registry)} {
  nodes_.resize(nodes);
  if (params.parallel != 1) {
    for (Node& node : nodes_) node.link = flows_.add_link(params.node);
    return;
  }
  const double cores =
      static_cast<double>(params.registry.bits_per_s) / static_cast<double>(params.node.bits_per_s);
  alone_.emplace(engine, cores, Label{"control.image_pulled"},
                 [this](uint32_t node) { pulled({node}, nodes_[{node}].pulls.front().image); });
}

bool ImagePulls::has(NodeId id, ImageId image) const {
  return std::ranges::binary_search(nodes_[id].images, image);
}

bool ImagePulls::is_full(const Node& node) const {
  return params_.parallel > 0 && node.pulls.size() >= static_cast<size_t>(params_.parallel);
}

// With one pull at a time even what is present waits for the pulls before it, as in the kubelet.
void ImagePulls::ensure(NodeId id, ImageId image, Callback done) {
  ++counters_.asked;
  nodes_[id].queue.push_back({image, std::move(done)});
  pull_next(id);
}

void ImagePulls::pull_next(NodeId id) {
  while (!nodes_[id].queue.empty() && !is_full(nodes_[id])) {
    Request request = std::move(nodes_[id].queue.front());
    nodes_[id].queue.erase(nodes_[id].queue.begin());
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
  node.pulls.push_back({.image = request.image, .flow = {}, .begins = {}, .done = {}});
  node.pulls.back().done.push_back(std::move(request.done));
  if (alone_) {
    if (params_.latency == Duration{}) return move(id);
    node.pulls.back().begins =
        engine_.after(params_.latency, Label{"control.image_comes"}, [this, id] { move(id); });
    return;
  }
  const std::array<LinkUse, 2> uses{LinkUse{registry_}, LinkUse{node.link}};
  const ImageId image = request.image;
  node.pulls.back().flow =
      flows_.start({.size = sizes_[image], .uses = uses, .latency = params_.latency},
                   [this, id, image] { pulled(id, image); });
}

// The only pull of the node.
void ImagePulls::move(NodeId id) {
  const ImageId image = nodes_[id].pulls.front().image;
  const Duration span = sizes_[image] / params_.node;
  if (span == Duration{}) return pulled(id, image);
  alone_->add(id.index, span);
}

void ImagePulls::pulled(NodeId id, ImageId image) {
  Node& node = nodes_[id];
  const auto pull = std::ranges::find(node.pulls, image, &Pull::image);
  ORRERY_CHECK(pull != node.pulls.end(), "what was pulled was asked for");
  ++counters_.pulled;
  std::vector<Callback> done = std::move(pull->done);
  node.pulls.erase(pull);
  node.images.insert(std::ranges::lower_bound(node.images, image), image);
  pull_next(id);
  for (Callback& callback : done) callback();
}

void ImagePulls::renew(NodeId id) {
  Node& node = nodes_[id];
  for (const Pull& pull : node.pulls) {
    engine_.cancel(pull.begins);
    flows_.end(pull.flow);
  }
  if (alone_ && alone_->contains(id.index)) alone_->erase(id.index);
  node.pulls.clear();
  node.queue.clear();
  node.images.clear();
}

}  // namespace orrery

#include "models/control_plane/pod_delays.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace orrery {

// A node that goes down loses its images.
void PodDelays::connect(NodeNews& nodes) {
  nodes.node_down.connect([this](NodeId node, NodeReason) { held_[node.index].clear(); });
}

void PodDelays::create(PodId /*pod*/, PodApi::Reply reply) {
  engine_.after(write_, Label{"control.written"}, [this, reply = std::move(reply)] {
    reply(Creation::Answered);
    engine_.after(watch_, Label{"control.watcher_told"}, [reply] { reply(Creation::Known); });
  });
}

void PodDelays::bind(PodId /*pod*/, NodeId /*node*/, Done done) {
  engine_.after(write_ + watch_, Label{"control.written"},
                [done = std::move(done)] { done(true); });
}

// An eviction takes two requests: one patches the pod's condition, and one deletes the pod.
void PodDelays::evict(PodId /*pod*/, PodApi::Reply reply) {
  engine_.after(write_ * 2, Label{"control.written"}, [this, reply = std::move(reply)] {
    reply(Creation::Answered);
    engine_.after(watch_, Label{"control.watcher_told"}, [reply] { reply(Creation::Known); });
  });
}

void PodDelays::removed(PodId pod, NodeId node, PodApi::Observed observed) {
  if (!node.is_valid()) return;
  if (presence_.is_up(node)) {
    engine_.after(write_ + watch_, Label{"control.written"}, std::move(observed));
    return;
  }
  dead_pods_.died(node, {pod, jobs_.pod(pod).generation}, 0);
}

void PodDelays::delete_dead_pods(NodeId node, bool /*is_back*/) {
  const size_t pods = dead_pods_.begin(node).size();
  if (pods == 0) return;
  engine_.after(write_ + watch_, Label{"control.written"}, [this, node, pods] {
    const std::vector<DeadPod> gone = dead_pods_.deleted(node, pods);
    if (!gone.empty()) pods_.dead_pods_gone.emit(gone);
  });
}

void PodDelays::patch(uint32_t /*controller*/, ApiResource /*resource*/,
                      ControllerApi::Reply reply) {
  engine_.after(write_, Label{"control.written"},
                [reply = std::move(reply)] { reply(ControllerApi::Answer::Stored); });
}

void PodDelays::delete_pod(uint32_t /*controller*/, PodId /*pod*/, MayEvict may,
                           ControllerApi::Reply reply) {
  struct Deletion {
    MayEvict may;
    ControllerApi::Reply reply;
  };
  auto deletion = std::make_shared<Deletion>(Deletion{std::move(may), std::move(reply)});
  engine_.after(write_, Label{"control.written"}, [this, deletion] {
    if (deletion->may && !deletion->may()) {
      return deletion->reply(ControllerApi::Answer::Forbidden);
    }
    deletion->reply(ControllerApi::Answer::Stored);
    engine_.after(watch_, Label{"control.watcher_told"},
                  [deletion] { deletion->reply(ControllerApi::Answer::Observed); });
  });
}

// A node pulls each image only once, and always at the node's full rate. So the time at which the
// pod will start is already known here.
void PodDelays::start(PodId pod, NodeId node, Started started) {
  Time ready = engine_.now();
  std::vector<Held>& held = held_[node.index];
  for (const ImageId image : images_.of(pod)) {
    const auto at = std::ranges::find(held, image, &Held::image);
    if (at != held.end()) {
      ready = std::max(ready, at->from);
      continue;
    }
    ready = ready + params_.image_pulls.latency + images_.size(image) / params_.image_pulls.node;
    held.push_back({image, ready});
  }
  started(ready - engine_.now() + start_);
}

}  // namespace orrery

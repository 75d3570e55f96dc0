// models/control_plane/kubelet/pod_images.hpp -- image pulls of pods on their nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/control_plane/kubelet/image_pulls.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/engine/engine.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// Gives each image name an ImageId. If a name occurs with several sizes, the first size applies.
class ImageNames {
 public:
  explicit ImageNames(const JobTable& jobs) : jobs_{jobs} {}
  const std::vector<ImageId>& of(PodId pod);
  Bytes size(ImageId image) const { return sizes_[image.index]; }
  size_t count() const { return sizes_.size(); }

 private:
  const JobTable& jobs_;
  std::map<std::string, ImageId, std::less<>> by_name_;
  std::vector<Bytes> sizes_;
  std::vector<std::vector<ImageId>> by_spec_;
  std::vector<bool> is_known_;  // by spec: whether by_spec_ has its images
};

// A pod pulls its images one after another, in competition with other pods of its node and with the
// registry's other clients.
class PodImages {
 public:
  PodImages(Engine& engine, const ImagePullParams& params, const JobTable& jobs, uint32_t nodes);

  // Calls `done` once all images of the pod are on the node. If all are present, ensure() calls
  // `done` before it returns, unless all pull slots of the node are taken: then `done` waits for a
  // free slot.
  void ensure(PodId pod, NodeId node, std::function<void()> done);
  // Drops the node's images, and the callbacks of pods that wait for images on it.
  void renew(NodeId node) { pulls_.renew(node); }
  const ImagePulls& pulls() const { return pulls_; }
  void add_summary(Recorder& recorder) const;

 private:
  struct Wait {
    std::vector<ImageId> images;
    size_t next = 0;
    NodeId node;
    Time since;
    std::function<void()> done;
  };
  void step(std::unique_ptr<Wait> wait);

  Engine& engine_;
  ImageNames names_;
  ImagePulls pulls_;
  double waited_s_ = 0;  // total wait of all pods for images
};

}  // namespace orrery

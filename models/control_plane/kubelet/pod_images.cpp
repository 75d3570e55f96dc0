#include "models/control_plane/kubelet/pod_images.hpp"

#include <memory>
#include <utility>

namespace orrery {

const std::vector<ImageId>& ImageNames::of(PodId pod) {
  const SpecId spec = jobs_.pod(pod).spec;
  if (spec.index >= by_spec_.size()) {
    by_spec_.resize(jobs_.specs().size());
    is_known_.resize(jobs_.specs().size());
  }
  std::vector<ImageId>& images = by_spec_[spec.index];
  if (is_known_[spec.index]) return images;
  is_known_[spec.index] = true;
  for (const ContainerImage& image : jobs_.specs()[spec].images) {
    const ImageId fresh{static_cast<uint32_t>(sizes_.size())};
    const auto [at, is_new] = by_name_.try_emplace(image.name, fresh);
    if (is_new) sizes_.push_back({image.bytes});
    images.push_back(at->second);
  }
  return images;
}

PodImages::PodImages(Engine& engine, const ImagePullParams& params, const JobTable& jobs,
                     uint32_t nodes)
    : engine_{engine}, names_{jobs}, pulls_{engine, params, nodes} {}

void PodImages::ensure(PodId pod, NodeId node, std::function<void()> done) {
  const size_t known = names_.count();
  const std::vector<ImageId>& images = names_.of(pod);
  for (size_t i = known; i < names_.count(); ++i) {
    pulls_.add_image(names_.size({static_cast<uint32_t>(i)}));
  }
  if (images.empty()) return done();
  auto wait = std::make_unique<Wait>();
  wait->images = images;
  wait->node = node;
  wait->since = engine_.now();
  wait->done = std::move(done);
  step(std::move(wait));
}

void PodImages::step(std::unique_ptr<Wait> wait) {
  if (wait->next == wait->images.size()) {
    waited_s_ += (engine_.now() - wait->since).seconds();
    return wait->done();
  }
  const NodeId node = wait->node;
  const ImageId image = wait->images[wait->next++];
  pulls_.ensure(node, image, [this, wait = std::move(wait)]() mutable { step(std::move(wait)); });
}

void PodImages::add_summary(Recorder& recorder) const {
  const ImagePulls::Counters& c = pulls_.counters();
  recorder.add_summary("images_asked", static_cast<int64_t>(c.asked), "images",
                       "images that pods needed on their nodes, counted for each pod");
  recorder.add_summary("images_pulled", static_cast<int64_t>(c.pulled), "images",
                       "images that were pulled from the registry");
  recorder.add_summary("image_wait", waited_s_, "s",
                       "time that pods waited for images, summed over all pods");
}

}  // namespace orrery

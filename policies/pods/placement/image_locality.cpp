// Prefers nodes that already have the pod's images.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

enum class Limit : uint8_t { PerContainer, PerPod };
constexpr std::array<std::string_view, 2> enum_names(Limit) { return {"per_container", "per_pod"}; }

struct PreloadedParams {
  std::string image;
  std::string key;
  std::vector<std::string> values;
  template <class V>
  void fields(V& v) {
    v("image", image, "Name of an image, as pods name it.", Required{});
    v("key", key, "Label key of the nodes that have the image; empty: all nodes have the image.");
    v("values", values, "Values of that label.");
  }
  void check(Checker& checker) const {
    if (key.empty() != values.empty()) {
      checker.error("values", key.empty() ? "have an effect only with a key"
                                          : "must name at least one value");
    }
  }
};

// A node has its preloaded images and the images of all pods that were ever bound to it. Garbage
// collection of images is not modelled.
class ImageLocality final : public Policy, public Score, public PostBind {
 public:
  struct Params {
    std::vector<PreloadedParams> preloaded;
    Limit limit = Limit::PerContainer;
    template <class V>
    void fields(V& v) {
      v("preloaded", preloaded, "Images that nodes have at the start.");
      v("limit", limit,
        "Size of images that gives the full score: 1000 MiB for each container or, as in older "
        "releases, for each pod.",
        Source{"per_container: kube-scheduler 1.36"});
    }
  };
  static constexpr Traits kTraits = Trait::HeedsImages;
  ImageLocality(Handle& handle, const Params& params) : handle_{handle}, limit_{params.limit} {
    for (const PreloadedParams& image : params.preloaded) {
      NodeSet& nodes = holders(image.image);
      if (image.key.empty()) {
        nodes.fill();
      } else {
        nodes |= handle.cluster().matching({{{image.key, SelectorOperator::In, image.values}}});
      }
    }
  }

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    std::ranges::fill(scores, 0);
    const PodSpec& spec = *cycle.pod.spec;
    if (spec.images.empty()) return;
    for (const ContainerImage& image : spec.images) {
      const auto found = held_.find(image.name);
      if (found == held_.end()) continue;
      const NodeSet& holders = found->second;
      const int64_t scaled = scaled_image_bytes(image.bytes, static_cast<int64_t>(holders.count()),
                                                static_cast<int64_t>(cycle.cluster.nodes()));
      for (size_t k = 0; k < nodes.size(); ++k) {
        if (holders.contains(nodes[k])) scores[k] += scaled;
      }
    }
    const int64_t containers = limit_ == Limit::PerPod ? 1 : std::max(1, spec.containers);
    for (int64_t& score : scores) {
      score = image_locality_score(score, kImageBytesMax * containers);
    }
  }

  void post_bind(const PodView& pod, NodeId node) override {
    for (const ContainerImage& image : pod.spec->images) holders(image.name).insert(node);
  }

 private:
  NodeSet& holders(const std::string& image) {
    return held_.try_emplace(image, NodeSet{handle_.cluster().nodes()}).first->second;
  }

  const Handle& handle_;
  const Limit limit_;
  std::map<std::string, NodeSet, std::less<>> held_;  // nodes by image
};
ORRERY_REGISTER_POLICY(ImageLocality, "ImageLocality",
                       "Prefers nodes that already have images of the pod. Larger images count "
                       "more.");

}  // namespace
}  // namespace orrery

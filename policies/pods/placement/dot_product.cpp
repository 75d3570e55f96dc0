// Compares a pod's request with a node's free resources as vectors (Tetris, SIGCOMM 2014).
#include <array>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/largest_node.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

// The FGD artifact reverses Tetris and prefers the smallest product.
enum class Prefer : uint8_t { SmallestProduct, LargestProduct };
constexpr std::array<std::string_view, 2> enum_names(Prefer) {
  return {"smallest_product", "largest_product"};
}

// The pod's request and the node's free resources are fractions of the largest allocatable amount
// on any node. The result is the mean of the products for CPU and GPU, in 0..1. Example: a pod of
// (0.5 CPU, 0.25 GPU) and a node with (0.8, 1.0) free: (0.4 + 0.25) / 2 = 0.325.
class DotProduct final : public Policy, public Score {
 public:
  struct Params {
    Prefer prefer = Prefer::SmallestProduct;
    template <class V>
    void fields(V& v) {
      v("prefer", prefer,
        "smallest_product: prefers nodes where little of the requested resources is free; "
        "largest_product: prefers nodes where much of the requested resources is free.",
        Source{"the FGD artifact (USENIX ATC 2023). Tetris uses largest_product"});
    }
  };
  DotProduct(Handle& handle, const Params& params)
      : prefer_{params.prefer},
        cpu_max_{static_cast<double>(largest_allocatable(handle.cluster(), Resource::Cpu))},
        gpu_max_{static_cast<double>(largest_allocatable(handle.cluster(), Resource::Gpu))} {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const Resources asked = cycle.pod.spec->requests();
    const double cpu = static_cast<double>(asked[Resource::Cpu]) / cpu_max_;
    const double gpu = static_cast<double>(asked[Resource::Gpu]) / gpu_max_;
    for (size_t k = 0; k < nodes.size(); ++k) {
      const auto free = [&](Resource r, double most) {
        return static_cast<double>(cycle.cluster.free(nodes[k], r)) / most;
      };
      double product = free(Resource::Cpu, cpu_max_) * cpu;
      product += free(Resource::Gpu, gpu_max_) * gpu;
      product /= 2;
      const double part = prefer_ == Prefer::SmallestProduct ? 1 - product : product;
      scores[k] = static_cast<int64_t>(static_cast<double>(kNodeScoreMax) * part);
    }
  }
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

 private:
  const Prefer prefer_;
  const double cpu_max_, gpu_max_;
};
ORRERY_REGISTER_POLICY(DotProduct, "DotProduct",
                       "Scores a node by the dot product of the pod's request and the node's free "
                       "resources.");

}  // namespace
}  // namespace orrery

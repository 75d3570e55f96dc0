// models/hardware/gpu_power.hpp -- power draw of GPUs, which differs between nodes and jobs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "sim/config/options.hpp"
#include "sim/core/id.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

struct GpuPower {  // power of one GPU, in watts
  int32_t idle = 0;
  int32_t spin = 0;  // in a busy wait
  int32_t busy = 0;  // in training
};

struct PowerParams {
  static constexpr std::string_view kDoc =
      "Variation of the power draw between nodes of one machine type, and between jobs; the median "
      "of each state is a parameter of the machine.";

  double node_spread = 0;
  double training_spread = 0;

  template <class V>
  void fields(V& v) {
    v("node_spread", node_spread,
      "Sigma of the lognormal factor by which the power draw of a node's GPUs is multiplied while "
      "they are idle or in a busy wait. Each node has its own factor. 0: no variation.",
      Range{0.0, 1.0},
      Source{"equal nodes are simplest; A100 GPUs without a CUDA context draw 56 to 60 W in "
             "nccl-tests issue 228, and 60 to 70 W in AcmeTrace"});
    v("training_spread", training_spread,
      "Sigma of the lognormal factor by which the power draw of a job's GPUs is multiplied while "
      "they compute. Each job has its own factor. 0: no variation.",
      Range{0.0, 1.0},
      Source{"equal jobs are simplest; measured A100 GPUs in training draw 350 to 410 W"});
  }
};

class GpuPowers {
 public:
  // `by_machine` is indexed by ClusterState::machine().
  GpuPowers(const ClusterState& cluster, std::vector<GpuPower> by_machine,
            const PowerParams& params, const RngStreams& rng);

  // Power of a GPU of the node's machine, before the variation between nodes.
  const GpuPower& nominal(NodeId node) const { return by_machine_[cluster_.machine(node)]; }
  const GpuPower& mean() const { return mean_; }  // mean of nominal() over all GPUs
  // Power of a GPU of the node while the job with this serial number runs. An invalid node gets the
  // mean() of the cluster instead.
  GpuPower of(NodeId node, uint64_t serial) const;
  int32_t idle(NodeId node) const { return of_node(node).idle; }

 private:
  const GpuPower& of_node(NodeId node) const {
    return by_node_.empty() ? nominal(node) : by_node_[node.index];
  }
  const ClusterState& cluster_;
  std::vector<GpuPower> by_machine_;
  // By node; empty without node_spread, as nodes then draw nominal() power.
  std::vector<GpuPower> by_node_;
  GpuPower mean_;
  PowerParams params_;
  RngStreams rng_;
};

}  // namespace orrery

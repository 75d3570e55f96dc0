// Rejects nodes whose NICs report too many symbol errors, like an operator who keeps jobs off
// damaged cables.
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

constexpr Status kTooMany{Code::Unschedulable, "node(s) had too many symbol errors"};

struct SymbolErrorsParams {
  static constexpr std::string_view kDoc = "Limit on symbol errors.";
  double per_hour = 720;

  template <class V>
  void fields(V& v) {
    v("per_hour", per_hour, "Highest accepted rate, summed over the compute NICs of a node.",
      Range{0.0, 1e18}, Unit{"errors/h"},
      Source{"InfiniBand's limit on the bit error rate, 1e-12, for one link of 200 Gb/s"});
  }
};

// A change of symbol errors is no cluster event. A rejected pod is retried at the next cluster
// event of any kind, or after policy.queue.unschedulable_max.
class SymbolErrors final : public Policy, public Filter {
 public:
  using Params = SymbolErrorsParams;
  static constexpr Fact kHeeded = Fact::Links;
  SymbolErrors(Handle& handle, const Params& params) : handle_{handle}, params_{params} {}

  void filter(const Cycle& cycle, Candidates& nodes) const override {
    if (cycle.pod.spec->gpus == 0) return;  // a pod without GPUs uses no compute network
    const std::vector<NicErrors> all = handle_.nic_errors();
    if (all.empty()) return;
    NodeSet banned{cycle.cluster.nodes()};
    for (const NicErrors& errors : all) {
      if (errors.per_hour > params_.per_hour) banned.insert(errors.node);
    }
    nodes.drop(banned, kTooMany);
  }

 private:
  const Handle& handle_;
  const Params params_;
};
ORRERY_REGISTER_POLICY(SymbolErrors, "SymbolErrors",
                       "Rejects nodes whose compute NICs count too many symbol errors.");

}  // namespace
}  // namespace orrery

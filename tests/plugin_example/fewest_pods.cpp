// A policy outside the tree: one file, built into a shared library, loaded with --plugin.
//
//   g++ -std=c++20 -O2 -shared -fPIC -I ORRERY fewest_pods.cpp -o libfewest_pods.so
//   orrery run scenario.yaml --plugin ./libfewest_pods.so
//
// ORRERY is the source tree of the program. The compiler must be the one that built the program.
// The scenario's profile names the policy like a built-in one:
//
//   - {name: FewestPods, weight: 2, args: {spare: 4}}
//
// To write a policy: inherit Policy and the extension points that it implements (policy_api.hpp),
// describe its arguments in Params::fields(), and end the file with the two macros at the bottom.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class FewestPods final : public Policy, public Score {
 public:
  struct Params {
    int32_t spare = 0;
    template <class V>
    void fields(V& v) {
      v("spare", spare, "Pods a node may hold before it loses points.", Range{0, 1000},
        Unit{"pods"});
    }
  };
  FewestPods(Handle& /*handle*/, const Params& params) : spare_{params.spare} {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int64_t pods = cycle.cluster.requested(nodes[i], Resource::Pods);
      scores[i] = std::clamp<int64_t>(100 + spare_ - pods, 0, 100);
    }
  }
  bool is_node_local() const override { return true; }

 private:
  const int64_t spare_;
};
ORRERY_REGISTER_POLICY(FewestPods, "FewestPods", "Nodes with the fewest pods first.");

}  // namespace

ORRERY_POLICY_LIBRARY();

// Places a whole gang under one leaf switch or on one node. A gang that does not fit there may use
// any nodes of the cluster if `required` is false, or once relax_attempts or relax_after permits
// this.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

enum class Level : uint8_t { Leaf, Hostname };
constexpr std::array<std::string_view, 2> enum_names(Level) { return {"leaf", "hostname"}; }

// Once a member of the gang is placed, the only `hostname` domain is the node of the first placed
// member, and the only `leaf` domain is the leaf of that node.
class TopologyPlacement final : public Policy, public Domains, public Reserve {
 public:
  struct Params {
    Level level = Level::Leaf;
    bool required = true;
    std::optional<int32_t> relax_attempts = {};
    std::optional<Duration> relax_after = {};

    template <class V>
    void fields(V& v) {
      v("level", level, "What a domain is: the nodes of one leaf switch, or one node.");
      v("required", required,
        "true: a gang that fits in no domain waits; false: such a gang is placed on any nodes.",
        Source{"kube-scheduler 1.36"});
      v("relax_attempts", relax_attempts,
        "After this many failed attempts, the next wider level is tried, too. For example, with 3 "
        "and `level: hostname`, a gang may use one leaf after 3 attempts and any nodes after 6. "
        "Absent: never.",
        Range{1, 1'000'000}, Example{"3"}, Heeded{required, "required is false"});
      v("relax_after", relax_after,
        "After this time since the gang's first failed attempt, the next wider level is tried, "
        "too; after twice this time, the level after it. The time is checked only at attempts; "
        "policy.queue determines when these happen. Absent: never.",
        Example{"10min"}, Heeded{required, "required is false"});
    }
  };
  TopologyPlacement(Handle& handle, const Params& params)
      : handle_{handle}, params_{params}, tries_{handle} {}

  void domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) override {
    const ClusterState& cluster = cycle.cluster;
    const GangPlacement home = handle_.placements().of_gang(gang.id);
    Counted& counted = cycle.state.of<Counted>(*this);
    if (!counted.is_counted) counted.widest = widest_level(tries_[gang.id], cycle.now);
    counted.is_counted = true;
    const int32_t widest = counted.widest;
    for (auto level = static_cast<int32_t>(params_.level); level >= std::max(widest, 0); --level) {
      const auto at = static_cast<Level>(level);
      if (home.pods > 0 && at == Level::Hostname) {
        out.emplace_back(home.home);
      } else if (home.pods > 0) {
        add_leaf(cluster, cluster.leaf(home.home), out);
      } else if (at == Level::Hostname) {
        cluster.up().for_each([&](NodeId n) { out.emplace_back(n); });
      } else {
        for (uint32_t leaf = 0; leaf < cluster.leaves(); ++leaf) add_leaf(cluster, leaf, out);
      }
    }
    if (!params_.required || widest < 0) out.emplace_back(cluster.up());
  }

  Status reserve(const Cycle& cycle, NodeId /*node*/) override {
    if (cycle.pod.gang.is_valid()) tries_[cycle.pod.gang].attempts = 0;
    return {};
  }
  void unreserve(const PodView& /*pod*/, NodeId /*node*/) override {}

 private:
  struct Counted : CycleData {  // keeps an attempt from being counted twice
    bool is_counted = false;
    int32_t widest = 0;
  };
  struct Tries {
    int32_t attempts = 0;  // number of attempts since a member was placed
    Time from;             // time of the first of these attempts
  };

  // Counts this attempt and returns the widest level to try: 1 is one node, 0 one leaf, -1 any
  // nodes.
  int32_t widest_level(Tries& tries, Time now) const {
    if (tries.attempts == 0) tries.from = now;
    int64_t steps = 0;
    if (params_.relax_attempts) steps = tries.attempts / *params_.relax_attempts;
    if (params_.relax_after && *params_.relax_after > Duration{}) {
      steps = std::max(steps, (now - tries.from) / *params_.relax_after);
    }
    ++tries.attempts;
    const auto level = static_cast<int64_t>(params_.level);
    return static_cast<int32_t>(std::max(level - steps, int64_t{-1}));
  }

  static void add_leaf(const ClusterState& cluster, uint32_t leaf, std::vector<GangDomain>& out) {
    const auto is_up = [&](NodeId n) { return cluster.up().contains(n); };
    if (std::ranges::any_of(cluster.in_leaf(leaf), is_up)) out.emplace_back(InLeaf{leaf});
  }
  const Handle& handle_;
  const Params params_;
  GangMap<Tries> tries_;
};
ORRERY_REGISTER_POLICY(TopologyPlacement, "TopologyPlacement",
                       "Places a whole gang under one leaf switch or on one node. relax_attempts "
                       "and relax_after widen the domain step by step, as in Philly (ATC'19, "
                       "section 2.3). Host time of an attempt: O(leaves), or O(nodes) with level: "
                       "hostname. Host time is longer for a gang whose pods differ, request "
                       "shares of a GPU or request no GPU: such a gang is tried in one domain "
                       "after another until it fits.");

}  // namespace
}  // namespace orrery

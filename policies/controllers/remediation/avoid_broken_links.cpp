// When a gang fails, cordons its nodes that have a NIC without a link, for a limited time.
#include <cstdint>
#include <map>
#include <string>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

struct AvoidBrokenLinksParams {
  static constexpr std::string_view kDoc = "Limits on cordons.";
  Duration cordon_for = 1_h;
  int32_t nodes_max = 0;

  template <class V>
  void fields(V& v) {
    v("cordon_for", cordon_for,
      "After this time a node is uncordoned if all its NICs have a link; otherwise the time starts "
      "again.",
      Range{1_s, 240_h}, Source{"estimate: a technician replaces a cable within an hour"});
    v("nodes_max", nodes_max, "Limit on the nodes that are cordoned at a time; 0: no limit.",
      Range{0, 1'000'000}, Unit{"nodes"});
  }
};

// Example: the leaf switch of a gang of four nodes dies. The gang aborts its exchange and fails.
// Its four nodes have ports without a link and are cordoned, so the gang restarts on other nodes.
// An hour later the switch is still dead, so the four nodes stay cordoned for another hour.
class AvoidBrokenLinks final : public Policy, public Controller {
 public:
  using Params = AvoidBrokenLinksParams;
  static constexpr Fact kHeeded = Fact::Links;
  AvoidBrokenLinks(const ControlBoard& /*board*/, const Params& params) : params_{params} {}

  void tick(const ControlBoard& board, Actions& actions) override {
    for (const GangFailure& failure : board.gang_failures()) {
      for (const NodeId node : failure.nodes) cordon(board, actions, node, failure.serial);
    }
    for (auto at = out_until_.begin(); at != out_until_.end();) {
      at = is_out(board, actions, at->first, at->second) ? std::next(at) : out_until_.erase(at);
    }
    for (const auto& [node, until] : out_until_) actions.wake_at(until);
    actions.idle_until();
  }

 private:
  void cordon(const ControlBoard& board, Actions& actions, NodeId node, uint64_t job) {
    const uint32_t ports = board.ports_down(node);
    if (ports == 0 || board.cluster().cordoned().contains(node)) return;
    if (params_.nodes_max > 0 && out_until_.size() >= static_cast<size_t>(params_.nodes_max)) {
      return;
    }
    if (!out_until_.try_emplace(node, board.now() + params_.cordon_for).second) return;
    actions.give(CordonNode{node}, std::to_string(ports) + " ports down under job " +
                                       std::to_string(job) + ", which failed");
  }

  bool is_out(const ControlBoard& board, Actions& actions, NodeId node, Time& until) const {
    if (until > board.now()) return true;
    if (board.ports_down(node) > 0) {
      until = board.now() + params_.cordon_for;
      return true;
    }
    actions.give(UncordonNode{node}, "all ports are up");
    return false;
  }

  const Params params_;
  std::map<NodeId, Time> out_until_;
};
ORRERY_REGISTER_POLICY(AvoidBrokenLinks, "AvoidBrokenLinks",
                       "When a gang fails, cordons its nodes that have a NIC without a link, for a "
                       "limited time.");

}  // namespace
}  // namespace orrery

// Adds nodes for pods that fit on no node, and removes nodes that are not needed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policies/controllers/scaling/scale_down.hpp"
#include "policies/controllers/scaling/scale_up.hpp"

namespace orrery {
namespace {

// A loop adds nodes to one pool or removes nodes. It decides by the state at its start and acts at
// its end. Loops do not overlap, as in cluster-autoscaler. Example: a pool has 1 node with 8 GPUs,
// and may grow to 4 such nodes. Three pods request 8 GPUs each. The node has room for one pod, so
// the next loop requests 2 nodes for the other pods. 10 min after the pods end, a loop removes the
// idle nodes.
class ClusterAutoscaler final : public Policy, public Controller {
 public:
  using Params = ClusterAutoscalerParams;
  static constexpr Traits kTraits = Trait::ScalesPools;
  static constexpr Fact kHeeded = Fact::NodeGroups;
  ClusterAutoscaler(const ControlBoard& board, const Params& params)
      : params_{params}, down_{board, params_} {}

  void tick(const ControlBoard& board, Actions& actions) override {
    if (board.pools().empty()) return actions.idle_until();
    const Time now = board.now();
    if (period_ == Duration{})
      period_ = now - Time{};  // the first tick is a period after the start
    down_.follow_drains(board, actions);
    if (loop_ && now >= loop_->end) finish_loop(board, actions);
    if (!loop_ && now >= next_begin_) begin_loop(board);
    if (loop_ && now >= loop_->end) finish_loop(board, actions);
    actions.wake_at(loop_ ? loop_->end : next_begin_);
  }

  std::vector<ControllerFigure> figures() const override {
    if (period_ == Duration{}) return {};  // no tick has seen a pool
    return {{"autoscaler_loops", loops_, "", "loops of the autoscaler"},
            {"autoscaler_halted", halted_, "",
             "loops of the autoscaler that halted because too many nodes were not ready"},
            {"nodes_drained", down_.counters().drained, "nodes",
             "nodes that the autoscaler drained and removed"},
            {"drains_failed", down_.counters().failed, "nodes",
             "nodes that the autoscaler could not drain, and that stayed"}};
  }

 private:
  struct Loop {
    Time begin, end;
    std::optional<AddNodes> up = {};
    ScaleDown::Plan down = {};
  };
  void begin_loop(const ControlBoard& board);
  void finish_loop(const ControlBoard& board, Actions& actions);

  const Params params_;
  ScaleDown down_;
  Duration period_ = {};
  Time next_begin_ = {};
  std::optional<Loop> loop_;
  int64_t loops_ = 0, halted_ = 0;
};

void ClusterAutoscaler::begin_loop(const ControlBoard& board) {
  ++loops_;
  auto nodes = static_cast<int64_t>(board.cluster().nodes());
  for (const PoolView& pool : board.pools()) nodes -= pool.unregistered;
  loop_ = {.begin = board.now(), .end = board.now() + params_.time_per_node * nodes};
  if (!may_delete_unready(board.nodes_not_ready(), nodes, params_.unready_guard)) {
    ++halted_;
    return;
  }
  ScaleUp::Plan up = ScaleUp{board, params_}.plan();
  down_.look(board);
  if (!up.add && !up.helps_pods) loop_->down = down_.plan(board);
  loop_->up = std::move(up.add);
}

void ClusterAutoscaler::finish_loop(const ControlBoard& board, Actions& actions) {
  const Loop loop = *std::exchange(loop_, std::nullopt);
  next_begin_ = std::max(loop.begin + period_, board.now());
  if (loop.up) {
    AddNodes add = *loop.up;
    add.waited_mean = add.waited_mean + (board.now() - loop.begin);
    add.waited_max = add.waited_max + (board.now() - loop.begin);
    down_.scaled_up(board.now());
    const std::string why = std::to_string(add.pods) + " pods find no node";
    actions.give(std::move(add), why);
  }
  down_.act(board, loop.down, actions);
}
ORRERY_REGISTER_POLICY(ClusterAutoscaler, "ClusterAutoscaler",
                       "Adds nodes for pods that fit on no node, and removes unneeded nodes, like "
                       "cluster-autoscaler.");

}  // namespace
}  // namespace orrery

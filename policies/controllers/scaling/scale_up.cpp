#include "policies/controllers/scaling/scale_up.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace orrery {

std::vector<ScaleUp::Waiting> ScaleUp::collect_waiting() const {
  std::map<SpecId, Waiting> by_spec;
  for (const ControlBoard::Unplaced& unplaced : board_.unplaced()) {
    const SpecId spec = board_.pod(unplaced.pod).spec_id;
    if (board_.specs()[spec].priority < params_.expendable_below) continue;
    Waiting& w = by_spec[spec];
    ++w.pods;
    w.since.push_back(unplaced.since);
  }
  std::vector<Waiting> waiting;
  for (auto& [spec, w] : by_spec) {
    w.spec = spec;
    std::ranges::sort(w.since);
    waiting.push_back(std::move(w));
  }
  std::ranges::sort(waiting, std::greater{}, [this](const Waiting& w) {
    const Resources& r = board_.specs().request(w.spec).resources;
    return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory], w.spec.index};
  });
  return waiting;
}

uint32_t ScaleUp::room_to_grow(const PoolView& pool) const {
  if (pool.backs_off_until > board_.now()) return 0;
  const uint32_t room = pool.size_max - std::min(pool.size, pool.size_max);
  return std::min(room, static_cast<uint32_t>(params_.nodes_per_scale_up));
}

// Pods that fit on present or requested nodes need no new nodes. A finished pod still takes room in
// this plan until the scheduler observes its end, because the plan uses the scheduler's view of
// what is free. Upstream's autoscaler does not use that view: it has its own watch of pods.
ScaleUp::Plan ScaleUp::plan() {
  std::vector<Waiting> waiting = collect_waiting();
  if (waiting.empty()) return {};
  RoomTable rooms{board_.cluster(), board_.specs(), true};
  rooms.take_what_is_taken();
  NodeSet there = board_.cluster().up();
  for (const PoolView& pool : board_.pools()) {
    if (pool.asked == 0) continue;
    for (const NodeId node : pool.nodes) {
      const PoolNodeState state = board_.pool_state(node);
      if (state == PoolNodeState::Asked || state == PoolNodeState::Joined) there.insert(node);
    }
  }
  Plan plan;
  for (Waiting& w : waiting) {
    w.seated = rooms.put_all({w.spec, w.pods}, there, [](NodeId) {});
    plan.helps_pods |= w.seated > 0;
  }
  for (uint32_t pool = 0; pool < board_.pools().size() && !plan.add; ++pool) {
    plan.add = grow(pool, waiting, rooms);
  }
  return plan;
}

// Chooses absent nodes of the pool for waiting pods that are not seated (see Waiting). Of the pods
// of one spec, those that have waited longest count as seated.
std::optional<AddNodes> ScaleUp::grow(uint32_t number, const std::vector<Waiting>& waiting,
                                      RoomTable& rooms) const {
  const PoolView& pool = board_.pools()[number];
  uint32_t left = room_to_grow(pool);
  NodeSet could_come{board_.cluster().nodes()};
  for (const NodeId node : pool.nodes) {
    if (left == 0) break;
    if (board_.pool_state(node) != PoolNodeState::Absent || board_.is_broken(node)) continue;
    could_come.insert(node);
    --left;
  }
  AddNodes add{.pool = number, .nodes = {}};
  NodeSet used{board_.cluster().nodes()};
  double waited_s = 0;
  for (const Waiting& w : waiting) {
    const int64_t put =
        rooms.put_all({w.spec, w.pods - w.seated}, could_come, [&](NodeId n) { used.insert(n); });
    add.pods += static_cast<uint64_t>(put);
    for (int64_t i = w.seated; i < w.seated + put; ++i) {
      const Duration waited = board_.now() - w.since[static_cast<size_t>(i)];
      waited_s += waited.seconds();
      add.waited_max = std::max(add.waited_max, waited);
    }
  }
  used.for_each([&](NodeId n) { add.nodes.push_back(n); });
  if (add.nodes.empty()) return std::nullopt;
  if (add.pods > 0) add.waited_mean = nearest_ns(waited_s / static_cast<double>(add.pods));
  return add;
}

}  // namespace orrery

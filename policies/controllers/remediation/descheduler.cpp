// Evicts pods from nodes that have too many equal pods of one job, or that are overutilized.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/scheduling/contract/eligible_nodes.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "policies/controllers/remediation/descheduler_params.hpp"

namespace orrery {
namespace {

double used_percent(const ClusterState& cluster, NodeId node, Resource r) {
  const int64_t has = cluster.allocatable(node, r);
  if (has == 0) return 0;
  return 100.0 * static_cast<double>(cluster.requested(node, r)) / static_cast<double>(has);
}

// The evictions of one tick.
class Round {
 public:
  Round(const ControlBoard& board, Actions& actions, const DeschedulerParams& params)
      : board_{board}, actions_{actions}, params_{params} {
    find_evictable();
  }

  void remove_duplicates();
  void balance();
  // Returns true if further rounds evict nothing until nodes or pods change.
  bool is_vain() const { return is_vain_ && params_.pod_age_min == Duration{}; }

 private:
  struct NodeUsage {
    NodeId node;
    std::array<int64_t, kResources> used{};
    int64_t total = 0;  // upstream's sort key: sum of millicores, bytes, GPUs and pods
  };
  struct Bounds {  // in percent, by resource
    std::array<double, kResources> low{}, high{};
  };
  enum class Answer : uint8_t { Evicted, Stays, NodeIsDone };

  double percent(NodeId node, Resource r) const { return used_percent(board_.cluster(), node, r); }
  int64_t limit(NodeId node, Resource r, double percent) const {
    const auto has = static_cast<double>(board_.cluster().allocatable(node, r));
    return static_cast<int64_t>(has * percent / 100);
  }
  bool is_named(Resource r) const {
    return params_.low_node_utilization->thresholds.of(r).has_value();
  }
  bool is_counted(Resource r) const { return r != Resource::Gpu || is_named(r); }
  const NodeSet& ready() {
    if (ready_.universe() > 0) return ready_;
    ready_ = NodeSet{board_.cluster().nodes()};
    board_.cluster().up().for_each([&](NodeId n) { ready_.assign(n, board_.is_ready(n)); });
    return ready_;
  }
  Bounds bounds();
  bool is_above(NodeId node, const Bounds& bounds) const;
  std::vector<NodeUsage> overutilized(const Bounds& bounds) const;
  std::vector<NodeId> underutilized(const Bounds& bounds);
  NodeUsage usage(NodeId node) const;
  bool goes_on(const NodeUsage& usage, const Bounds& bounds) const;
  void relieve(NodeUsage usage, const Bounds& bounds, const std::vector<NodeId>& low,
               std::vector<PodId> pods);

  const JobView& job(JobId id) {
    const auto [at, is_new] = jobs_.try_emplace(id);
    if (is_new) at->second = board_.job(id);
    return at->second;
  }
  void find_evictable();
  bool is_evictable(PodId pod);
  void remove_duplicates_of(std::vector<PodId> pods);
  bool fits_elsewhere(PodId pod);
  bool is_allowed(PodId pod);
  Answer evict(PodId pod, std::string why);

  const ControlBoard& board_;
  Actions& actions_;
  const DeschedulerParams& params_;
  std::vector<PodId> evictable_;  // pods on ready nodes; pods of a job are consecutive
  bool is_vain_ = true;
  bool are_all_done_ = false;  // no more evictions in this round
  NodeSet ready_;              // computed at first use
  std::map<JobId, JobView> jobs_;
  // How much all underutilized nodes together can take before they reach target_thresholds.
  std::array<int64_t, kResources> available_{};
  std::optional<RoomTable> rooms_;  // for node_fit; built at first use
  std::set<PodId> evicted_;
  std::set<GangId> gangs_stopped_;
  std::map<NodeId, int32_t> evicted_from_;
  std::map<uint32_t, int32_t> allowed_;  // evictions that disruption budgets still allow
};

// ---- evictable pods

// Jobs with gangs are skipped unless params_.gangs is set. Only a job's first pod is checked for a
// gang, because either all pods of a job are members of gangs or none is.
void Round::find_evictable() {
  for (const JobId id : board_.jobs()) {
    const std::span<const PodId> placed = board_.placements().of_job(id);
    if (placed.empty()) continue;
    if (!params_.gangs && board_.placements().of(placed.front()).gang.is_valid()) continue;
    for (const PodId pod : placed) {
      if (!is_evictable(pod)) continue;
      const bool is_on_ready = board_.is_ready(board_.placements().node_of(pod));
      if (is_on_ready) evictable_.push_back(pod);
      is_vain_ = is_vain_ && is_on_ready;
    }
  }
}

bool Round::is_evictable(PodId pod) {
  const Placed& placed = board_.placements().of(pod);
  if (placed.priority >= params_.priority_threshold || board_.is_terminating(pod)) return false;
  if (params_.replicas_min > 0 && job(placed.job).pods_bound < params_.replicas_min) return false;
  if (params_.pod_age_min == Duration{}) return true;
  return board_.now() - board_.pod(pod).created >= params_.pod_age_min;
}

bool Round::fits_elsewhere(PodId pod) {
  if (!rooms_) {
    rooms_.emplace(board_.cluster(), board_.specs(), false);
    rooms_->take_what_is_taken();
  }
  const Placed& placed = board_.placements().of(pod);
  NodeSet others = ready();
  others.erase(placed.node);
  return rooms_->put_all({.spec = placed.spec, .pods = 1}, others, [](NodeId) {}) == 1;
}

// Budgets of pods that are not ready are not checked here: the Eviction API checks them.
bool Round::is_allowed(PodId pod) {
  if (!board_.is_ready(pod)) return true;
  const std::vector<uint32_t> budgets = board_.budgets(pod);
  for (const uint32_t budget : budgets) {
    const auto [at, is_new] = allowed_.try_emplace(budget);
    if (is_new) at->second = board_.disruptions_allowed(budget);
    if (at->second <= 0) return false;
  }
  for (const uint32_t budget : budgets) --allowed_.at(budget);
  return true;
}

Round::Answer Round::evict(PodId pod, std::string why) {
  const Placed& placed = board_.placements().of(pod);
  if (params_.evictions_max > 0 && std::ssize(evicted_) >= params_.evictions_max) {
    are_all_done_ = true;
    return Answer::NodeIsDone;
  }
  int32_t& from_node = evicted_from_[placed.node];
  if (params_.evictions_per_node_max > 0 && from_node >= params_.evictions_per_node_max) {
    return Answer::NodeIsDone;
  }
  if (evicted_.contains(pod) || gangs_stopped_.contains(placed.gang)) return Answer::Stays;
  if (params_.node_fit && !fits_elsewhere(pod)) return Answer::Stays;
  if (!is_allowed(pod)) return Answer::Stays;
  ++from_node;
  evicted_.insert(pod);
  if (placed.gang.is_valid()) gangs_stopped_.insert(placed.gang);
  actions_.give(EvictPod{.pod = pod}, std::move(why));
  return Answer::Evicted;
}

// ---- RemoveDuplicates

void Round::remove_duplicates() {
  const auto& excluded = params_.remove_duplicates->exclude_owner_kinds;
  const auto job_of = [&](PodId pod) { return board_.placements().of(pod).job; };
  for (size_t i = 0, end = 0; i < evictable_.size() && !are_all_done_; i = end) {
    const JobId id = job_of(evictable_[i]);
    while (end < evictable_.size() && job_of(evictable_[end]) == id) ++end;
    if (end - i < 2) continue;
    if (!excluded.empty() && std::ranges::count(excluded, job(id).owner) > 0) continue;
    remove_duplicates_of({evictable_.begin() + static_cast<std::ptrdiff_t>(i),
                          evictable_.begin() + static_cast<std::ptrdiff_t>(end)});
  }
}

// Equal pods of one job are duplicates of each other.
void Round::remove_duplicates_of(std::vector<PodId> pods) {
  struct Alike {
    int64_t pods = 0;
    std::map<NodeId, std::vector<PodId>> on = {};
  };
  std::map<SpecId, Alike> kinds;
  std::ranges::sort(pods);
  for (const PodId pod : pods) {
    const Placed& at = board_.placements().of(pod);
    Alike& alike = kinds[at.spec];
    ++alike.pods;
    alike.on[at.node].push_back(pod);
  }
  for (const auto& [spec, alike] : kinds) {
    if (std::ssize(alike.on) == alike.pods) continue;
    is_vain_ = false;
    NodeSet targets = eligible_nodes(board_.cluster(), board_.specs()[spec]);
    targets &= ready();
    const auto nodes = static_cast<int64_t>(targets.count());
    if (nodes < 2) continue;
    const auto most = static_cast<size_t>((alike.pods + nodes - 1) / nodes);
    for (const auto& [node, on] : alike.on) {
      for (size_t i = most; i < on.size(); ++i) {
        const std::string why = "RemoveDuplicates: " + std::to_string(on.size()) +
                                " alike pods on the node, at most " + std::to_string(most);
        if (evict(on[i], why) == Answer::NodeIsDone) break;
      }
    }
  }
}

// ---- LowNodeUtilization

Round::Bounds Round::bounds() {
  const LowNodeUtilizationParams& params = *params_.low_node_utilization;
  Bounds bounds;
  bounds.high.fill(100);
  for (const Resource r : kThresholdResources) {
    if (!is_named(r)) continue;
    double& low = bounds.low[static_cast<size_t>(r)];
    double& high = bounds.high[static_cast<size_t>(r)];
    low = *params.thresholds.of(r);
    high = *params.target_thresholds.of(r);
    if (!params.use_deviation_thresholds) continue;
    double sum = 0;
    ready().for_each([&](NodeId n) { sum += percent(n, r); });
    const double mean = sum / static_cast<double>(ready().count());
    low = std::clamp(mean - low, 0.0, 100.0);
    high = std::clamp(mean + high, 0.0, 100.0);
  }
  return bounds;
}

Round::NodeUsage Round::usage(NodeId node) const {
  NodeUsage usage{.node = node};
  for (const Resource r : kThresholdResources) {
    if (!is_counted(r)) continue;
    const int64_t used = board_.cluster().requested(node, r);
    usage.used[static_cast<size_t>(r)] = used;
    usage.total += r == Resource::Gpu ? used / kMilli : used;
  }
  return usage;
}

bool Round::is_above(NodeId node, const Bounds& bounds) const {
  return std::ranges::any_of(kThresholdResources, [&](Resource r) {
    return is_named(r) && percent(node, r) > bounds.high[static_cast<size_t>(r)];
  });
}

// Overutilized nodes that have evictable pods, the fullest first.
std::vector<Round::NodeUsage> Round::overutilized(const Bounds& bounds) const {
  std::vector<NodeId> nodes;
  for (const PodId pod : evictable_) {
    const NodeId node = board_.placements().node_of(pod);
    if (is_above(node, bounds)) nodes.push_back(node);
  }
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  std::vector<NodeUsage> high;
  for (const NodeId node : nodes) high.push_back(usage(node));
  std::ranges::stable_sort(high, std::greater{}, &NodeUsage::total);
  return high;
}

std::vector<NodeId> Round::underutilized(const Bounds& bounds) {
  std::vector<NodeId> low;
  ready().for_each([&](NodeId n) {
    if (board_.cluster().cordoned().contains(n)) return;
    const bool is_low = std::ranges::all_of(kThresholdResources, [&](Resource r) {
      return !is_named(r) || percent(n, r) <= bounds.low[static_cast<size_t>(r)];
    });
    if (is_low) low.push_back(n);
  });
  return low;
}

void Round::balance() {
  if (evictable_.empty()) return;
  const Bounds at = bounds();
  const std::vector<NodeUsage> high = overutilized(at);
  if (high.empty()) return;
  is_vain_ = false;
  const std::vector<NodeId> low = underutilized(at);
  if (std::ssize(low) <= params_.low_node_utilization->number_of_nodes) return;
  for (const NodeId n : low) {
    for (const Resource r : kThresholdResources) {
      const auto i = static_cast<size_t>(r);
      available_[i] += limit(n, r, at.high[i]) - board_.cluster().requested(n, r);
    }
  }
  std::map<NodeId, std::vector<PodId>> pods;
  for (const PodId pod : evictable_) pods[board_.placements().node_of(pod)].push_back(pod);
  for (const NodeUsage& usage : high) {
    if (!are_all_done_) relieve(usage, at, low, std::move(pods[usage.node]));
  }
}

bool Round::goes_on(const NodeUsage& usage, const Bounds& bounds) const {
  bool is_above = false;
  for (const Resource r : kThresholdResources) {
    if (!is_counted(r)) continue;
    const auto i = static_cast<size_t>(r);
    if (available_[i] <= 0) return false;
    is_above = is_above || usage.used[i] > limit(usage.node, r, bounds.high[i]);
  }
  return is_above;
}

void Round::relieve(NodeUsage usage, const Bounds& bounds, const std::vector<NodeId>& low,
                    std::vector<PodId> pods) {
  std::ranges::sort(pods, {}, [&](PodId pod) {
    const Placed& placed = board_.placements().of(pod);
    return std::tuple{placed.priority, !board_.specs()[placed.spec].is_best_effort(), pod};
  });
  for (const PodId pod : pods) {
    if (!goes_on(usage, bounds)) return;
    const SpecId id = board_.placements().of(pod).spec;
    const PodSpec& spec = board_.specs()[id];
    const bool is_let_in =
        std::ranges::any_of(low, [&](NodeId n) { return is_open_to(board_.cluster(), spec, n); });
    if (!is_let_in) continue;
    const Answer answer = evict(pod, "LowNodeUtilization: its node is above target_thresholds");
    if (answer == Answer::NodeIsDone) return;
    if (answer == Answer::Stays) continue;
    const Resources& needs = board_.specs().request(id).resources;
    for (const Resource r : kThresholdResources) {
      usage.used[static_cast<size_t>(r)] -= needs[r];
      available_[static_cast<size_t>(r)] -= needs[r];
    }
  }
}

// RemoveDuplicates and LowNodeUtilization define duplicates and over- and underutilized nodes as
// upstream does. Only ready nodes count; a cordoned node is never underutilized. Example of
// RemoveDuplicates: 4 of 8 nodes were broken, so 24 replicas are on the other 4, 6 on each. Once
// all 8 are ready, a node may have ceil(24 / 8) = 3 replicas, so 3 are evicted from each of the 4.
// Example of LowNodeUtilization with thresholds {pods: 20} and target_thresholds {pods: 50}: nodes
// A, B and C run 8, 4 and 1 of at most 10 pods. A is above 50 %, C is not above 20 %. C can take 4
// more pods, up to 50 %. A loses pods, the lowest priority first, until it has 5.
class Descheduler final : public Policy, public Controller {
 public:
  using Params = DeschedulerParams;
  Descheduler(const ControlBoard& /*board*/, const Params& params) : params_{params} {}

  void tick(const ControlBoard& board, Actions& actions) override {
    const bool has_gangs = params_.gangs && board.placements().pods() > 0;
    const bool seeks_duplicates =
        params_.remove_duplicates && (has_gangs || board.lone_pods_with_siblings() > 0);
    const bool balances = params_.low_node_utilization && (has_gangs || board.lone_pods() > 0);
    if (!seeks_duplicates && !balances) {
      if (!params_.gangs) actions.idle_until();
      return;
    }
    const bool may_matter = may_changes_matter(board.cluster(), seeks_duplicates);
    version_ = board.cluster().version();
    if (!may_matter) return;
    Round round{board, actions, params_};
    if (seeks_duplicates) round.remove_duplicates();
    if (balances) round.balance();
    is_vain_ = round.is_vain();
  }

 private:
  // False if `is_vain_` is true and no relevant node has changed since the last tick. With
  // LowNodeUtilization alone and fixed thresholds, only nodes above target_thresholds are relevant.
  bool may_changes_matter(const ClusterState& cluster, bool seeks_duplicates) const {
    if (!is_vain_ || !cluster.log_covers(version_)) return true;
    const std::span<const NodeId> changed = cluster.touched_since(version_);
    if (changed.empty()) return false;
    if (seeks_duplicates || params_.low_node_utilization->use_deviation_thresholds) return true;
    const UsageThresholds& target = params_.low_node_utilization->target_thresholds;
    return std::ranges::any_of(changed, [&](NodeId node) {
      return std::ranges::any_of(kThresholdResources, [&](Resource r) {
        const std::optional<double> limit = target.of(r);
        return limit && used_percent(cluster, node, r) > *limit;
      });
    });
  }

  const Params params_;
  uint64_t version_ = 0;  // version of the cluster at the last check
  bool is_vain_ = false;  // Round::is_vain() of the last round
};
ORRERY_REGISTER_POLICY(Descheduler, "Descheduler",
                       "Evicts duplicate pods, and pods on overutilized nodes, like the Kubernetes "
                       "descheduler.");

}  // namespace
}  // namespace orrery

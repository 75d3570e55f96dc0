#include "models/scheduling/contract/placements.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr int32_t kNoPriority = std::numeric_limits<int32_t>::max();

// A text that differs for different groups: the key of by_name_.
std::string name_of(const PodGroup& group) {
  std::string name{static_cast<char>('0' + static_cast<int>(group.topology_key)),
                   static_cast<char>('0' + static_cast<int>(group.members))};
  const auto add = [&](const std::string& text) {
    name += std::to_string(text.size());
    name += ':';
    name += text;
  };
  add(group.team);
  for (const NodeLabel& label : group.labels) {
    add(label.key);
    add(label.value);
  }
  return name;
}

}  // namespace

bool has_labels(const PodSpec& spec, std::span<const NodeLabel> labels) {
  return std::ranges::all_of(labels, [&](const NodeLabel& label) {
    return std::ranges::find(spec.labels, label) != spec.labels.end();
  });
}

Placements::Placements(const ClusterState& cluster, const SpecTable& specs)
    : cluster_{cluster},
      specs_{specs},
      on_nodes_{cluster.nodes()},
      lowest_(cluster.nodes(), kNoPriority) {}

std::vector<PodId> Placements::on_node(NodeId node) const {
  std::vector<PodId> pods;
  on_nodes_.collect(node, pods);
  return pods;
}

std::span<const PodId> Placements::of_job(JobId job) const {
  if (job.index >= of_jobs_.size()) return {};
  return of_jobs_[job.index];
}

GangPlacement Placements::of_gang(GangId gang) const {
  const bool is_known = gang.is_valid() && gang.index < of_gangs_.size();
  return is_known ? of_gangs_[gang.index] : GangPlacement{};
}

int32_t Placements::of_role(RoleId role) const {
  return role.index < of_roles_.size() ? of_roles_[role.index] : 0;
}

std::optional<int32_t> Placements::lowest_priority() const {
  if (of_priority_.empty()) return std::nullopt;
  return of_priority_.begin()->first;
}

std::optional<int32_t> Placements::lowest_priority_on(NodeId node) const {
  if (lowest_[node.index] == kNoPriority) return std::nullopt;
  return lowest_[node.index];
}

// ---- changes

void Placements::place(const PodView& pod, NodeId node, DeviceGrant grant, Time since) {
  if (pod.id.index >= pods_.size()) {
    pods_.resize(std::max(pod.id.index + size_t{1}, 2 * pods_.size()));
    on_nodes_.grow(pods_.size());
  }
  ORRERY_CHECK(!pods_[pod.id].node.is_valid(), "a pod is in one place at a time");
  if (pod.job.index >= of_jobs_.size()) of_jobs_.resize(pod.job.index + size_t{1});
  std::vector<PodId>& siblings = of_jobs_[pod.job.index];
  Placed& placed = pods_[pod.id];
  placed = {.node = node,
            .grant = grant,
            .since = since,
            .spec = pod.spec_id,
            .gang = pod.gang,
            .role = pod.role,
            .job = pod.job,
            .priority = pod.spec->priority,
            .team = pod.team.empty() ? 0 : team_number(pod.team),
            .slot = static_cast<uint32_t>(siblings.size())};
  siblings.push_back(pod.id);
  if (pod.gang.is_valid()) {
    if (pod.gang.index >= of_gangs_.size()) of_gangs_.resize(pod.gang.index + size_t{1});
    GangPlacement& gang = of_gangs_[pod.gang.index];
    if (gang.pods++ == 0) gang.home = node;
    gang.held += specs_.request(pod.spec_id).resources;
  }
  if (pod.role.is_valid()) {
    if (pod.role.index >= of_roles_.size()) of_roles_.resize(pod.role.index + size_t{1});
    ++of_roles_[pod.role.index];
  }
  on_nodes_.add(node, pod.id);
  lowest_[node.index] = std::min(lowest_[node.index], placed.priority);
  ++of_priority_[placed.priority];
  ++total_;
  count_in(placed, 1);
}

void Placements::remove(PodId pod) {
  ORRERY_CHECK(node_of(pod).is_valid(), "only a placed pod leaves its place");
  const Placed placed = std::exchange(pods_[pod], {});
  std::vector<PodId>& siblings = of_jobs_[placed.job.index];
  siblings[placed.slot] = siblings.back();
  if (siblings.back() != pod) pods_[siblings.back()].slot = placed.slot;
  siblings.pop_back();
  if (placed.gang.is_valid()) {
    GangPlacement& gang = of_gangs_[placed.gang.index];
    --gang.pods;
    gang.held -= specs_.request(placed.spec).resources;
  }
  if (placed.role.is_valid()) --of_roles_[placed.role.index];
  on_nodes_.remove(placed.node, pod);
  if (placed.priority == lowest_[placed.node.index]) find_lowest(placed.node);
  const auto count = of_priority_.find(placed.priority);
  if (--count->second == 0) of_priority_.erase(count);
  --total_;
  count_in(placed, -1);
}

void Placements::set_home(GangId gang, NodeId node) {
  if (gang.is_valid()) of_gangs_[gang.index].home = node;
}

void Placements::find_lowest(NodeId node) {
  int32_t& lowest = lowest_[node.index];
  lowest = kNoPriority;
  on_nodes_.for_each(node, [&](PodId pod) { lowest = std::min(lowest, pods_[pod].priority); });
}

// ---- groups

bool Placements::has_members(const PodGroup& group, const PodSpec& spec) {
  switch (group.members) {
    case PodGroup::Members::Labelled:
      return has_labels(spec, group.labels);
    case PodGroup::Members::AnyKeepingAway:
      return !spec.anti_affinity.empty();
    case PodGroup::Members::KeepingAway:
      break;
  }
  return std::ranges::any_of(spec.anti_affinity, [&](const PodAffinityTerm& term) {
    return term.topology_key == group.topology_key && term.match_labels == group.labels;
  });
}

uint32_t Placements::team_number(std::string_view team) const {
  const auto known = teams_.find(team);
  if (known != teams_.end()) return known->second;
  const auto number = static_cast<uint32_t>(teams_.size() + 1);  // number 0 means no team
  return teams_.emplace(std::string{team}, number).first->second;
}

// The groups that include pods of this spec. Each spec is compared only once with each group: specs
// do not change, and groups are never removed.
std::span<const uint32_t> Placements::groups_of(SpecId spec) const {
  if (spec.index >= by_spec_.size()) by_spec_.resize(spec.index + size_t{1});
  Membership& known = by_spec_[spec.index];
  for (; known.compared < groups_.size(); ++known.compared) {
    if (has_members(groups_[known.compared]->what, specs_[spec])) {
      known.groups.push_back(static_cast<uint32_t>(known.compared));
    }
  }
  return known.groups;
}

void Placements::count_in(const Placed& placed, int32_t by) {
  if (groups_.empty()) return;
  for (const uint32_t g : groups_of(placed.spec)) {
    Group& group = *groups_[g];
    if (group.team == 0 || group.team == placed.team) step(group, placed.node, by);
  }
}

void Placements::step(Group& group, NodeId node, int32_t by) const {
  const bool by_node = group.what.topology_key == PodTopology::Hostname;
  PodCounts& counts = group.counts;
  int32_t& here = counts.in[by_node ? node.index : cluster_.leaf(node)];
  const bool had_any = here > 0;
  here += by;
  counts.total += by;
  if (had_any == (here > 0)) return;
  counts.domains_with_any += by;
  if (by_node) return counts.where.assign(node, here > 0);
  for (const NodeId n : cluster_.in_leaf(cluster_.leaf(node))) counts.where.assign(n, here > 0);
}

const PodCounts& Placements::count(const PodGroup& group) const {
  PodCounts*& known = by_name_[name_of(group)];
  if (known != nullptr) return *known;
  const size_t domains =
      group.topology_key == PodTopology::Hostname ? cluster_.nodes() : cluster_.leaves();
  Group& made = *groups_.emplace_back(std::make_unique<Group>(
      Group{.what = group,
            .team = group.team.empty() ? 0 : team_number(group.team),
            .counts = {.in = std::vector<int32_t>(domains), .where = NodeSet{cluster_.nodes()}}}));
  for (const Placed& placed : pods_) {
    if (!placed.node.is_valid() || !has_members(group, specs_[placed.spec])) continue;
    if (made.team == 0 || made.team == placed.team) step(made, placed.node, 1);
  }
  known = &made.counts;
  return made.counts;
}

}  // namespace orrery

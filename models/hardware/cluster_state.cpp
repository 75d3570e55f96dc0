#include "models/hardware/cluster_state.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Maximum length of the change log: the larger of kLogLeast and kLogPerNode * number of nodes. A
// full log is emptied, and caches must then visit every node again.
constexpr size_t kLogLeast = 1 << 16, kLogPerNode = 2;

bool as_integer(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

NodeId ClusterState::add_node(const NodeSpec& spec) {
  ORRERY_CHECK(!is_sealed_, "nodes are added before the run");
  const int64_t gpu_milli = spec.allocatable[Resource::Gpu];
  ORRERY_CHECK(gpu_milli % kMilli == 0, "a node has whole GPUs");
  ORRERY_CHECK(gpu_milli / kMilli <= int64_t{kGpusPerNodeMax}, "a GPU mask has 16 bits");
  const NodeId id{static_cast<uint32_t>(names_.size())};
  names_.push_back(spec.name);
  for (size_t r = 0; r < kResources; ++r) {
    allocatable_[r].push_back(spec.allocatable.amount[r]);
    requested_[r].push_back(0);
  }
  nonzero_cpu_.push_back(0);
  nonzero_memory_.push_back(0);
  const auto gpus = static_cast<uint32_t>(gpu_milli / kMilli);
  idle_gpus_.push_back(static_cast<GpuMask>((uint32_t{1} << gpus) - 1));
  gpus_out_.push_back(0);
  auto& left = gpu_left_.emplace_back();
  std::fill_n(left.begin(), gpus, static_cast<int16_t>(kMilli));
  machines_.push_back(spec.machine);
  leaf_.push_back(spec.leaf);
  leaves_ = std::max(leaves_, spec.leaf + 1);
  unsealed_labels_.push_back(spec.labels);
  unsealed_taints_.push_back(spec.taints);
  gpus_total_ += gpus;
  free_up_ += spec.allocatable;
  return id;
}

void ClusterState::seal() {
  ORRERY_CHECK(!is_sealed_, "sealed twice");
  is_sealed_ = true;
  const size_t n = nodes();
  log_max_ = std::max(kLogLeast, kLogPerNode * n);
  up_ = NodeSet::all(n);
  fully_idle_ = NodeSet::all(n);
  cordoned_ = NodeSet{n};
  with_idle_gpus_.assign(kGpusPerNodeMax + 1, NodeSet{n});
  sort_by_leaf();
  gpus_up_ = gpus_total_;
  for (uint32_t i = 0; i < n; ++i) {
    const NodeId id{i};
    for (uint32_t k = 0; k <= gpus(id); ++k) with_idle_gpus_[k].insert(id);
    for (const NodeLabel& label : unsealed_labels_[i]) {
      auto key = std::ranges::find(labels_, label.key, &LabelIndex::key);
      if (key == labels_.end()) key = labels_.insert(key, LabelIndex{label.key, {}});
      auto value = std::ranges::find(key->values, label.value, &LabelValue::value);
      if (value == key->values.end()) value = key->values.insert(value, {label.value, NodeSet{n}});
      value->nodes.insert(id);
    }
    for (const Taint& taint : unsealed_taints_[i]) with_taint_[intern_taint(taint)].insert(id);
  }
  unsealed_labels_ = {};
  unsealed_taints_ = {};
  std::ranges::sort(labels_, {}, &LabelIndex::key);
  for (LabelIndex& key : labels_) std::ranges::sort(key.values, {}, &LabelValue::value);
}

void ClusterState::sort_by_leaf() {
  leaf_begin_.assign(size_t{leaves_} + 1, 0);
  for (const uint32_t leaf : leaf_) ++leaf_begin_[leaf + 1];
  std::partial_sum(leaf_begin_.begin(), leaf_begin_.end(), leaf_begin_.begin());
  by_leaf_.resize(nodes());
  std::vector<uint32_t> next{leaf_begin_.begin(), leaf_begin_.end() - 1};
  for (uint32_t i = 0; i < nodes(); ++i) by_leaf_[next[leaf_[i]]++] = NodeId{i};
}

int32_t ClusterState::gpu_left_milli_max(NodeId n) const {
  if (idle_gpus_[n.index] != 0) return static_cast<int32_t>(kMilli);
  return *std::ranges::max_element(gpu_left_[n.index]);
}

const NodeSet& ClusterState::with_idle_gpus(uint32_t at_least) const {
  ORRERY_CHECK(at_least <= kGpusPerNodeMax, "no node has that many GPUs");
  return with_idle_gpus_[at_least];
}

const ClusterState::LabelIndex* ClusterState::find_label(std::string_view key) const {
  const auto found = std::ranges::lower_bound(labels_, key, {}, &LabelIndex::key);
  return found != labels_.end() && found->key == key ? &*found : nullptr;
}

NodeSet ClusterState::matching(const SelectorTerm& term) const {
  NodeSet result = NodeSet::all(nodes());
  for (const Requirement& requirement : term.all_of) {
    NodeSet hit{nodes()};
    if (requirement.key == kHostnameLabel) {  // every node has its own value, so there is no index
      for (uint32_t i = 0; i < nodes(); ++i) {
        if (std::ranges::find(requirement.values, names_[i]) != requirement.values.end())
          hit.insert({i});
      }
    } else if (const LabelIndex* const label = find_label(requirement.key); label != nullptr) {
      for (const LabelValue& v : label->values) {
        const bool listed =
            std::ranges::find(requirement.values, v.value) != requirement.values.end();
        int64_t have = 0, bound = 0;
        const bool numbers = requirement.values.size() == 1 && as_integer(v.value, have) &&
                             as_integer(requirement.values[0], bound);
        const bool matches =
            requirement.op == SelectorOperator::Gt   ? numbers && have > bound
            : requirement.op == SelectorOperator::Lt ? numbers && have < bound
            : requirement.op == SelectorOperator::In || requirement.op == SelectorOperator::NotIn
                ? listed
                : true;
        if (matches) hit |= v.nodes;
      }
    }
    const bool negated = requirement.op == SelectorOperator::NotIn ||
                         requirement.op == SelectorOperator::DoesNotExist;
    if (requirement.key == kHostnameLabel && (requirement.op == SelectorOperator::Exists ||
                                              requirement.op == SelectorOperator::DoesNotExist)) {
      hit.fill();
    }
    if (negated)
      result -= hit;
    else
      result &= hit;
  }
  return result;
}

size_t ClusterState::intern_taint(const Taint& taint) {
  const auto found = std::ranges::find(taints_, taint);
  if (found != taints_.end()) return static_cast<size_t>(found - taints_.begin());
  taints_.push_back(taint);
  with_taint_.emplace_back(nodes());
  return taints_.size() - 1;
}

void ClusterState::touched(NodeId n) {
  if (hypotheses_ > 0) return;
  if (log_.size() >= log_max_) {
    log_base_ += log_.size();
    log_.clear();
  }
  log_.push_back(n);
}

void ClusterState::reindex_gpus(NodeId n, GpuMask before) {
  const auto was = static_cast<uint32_t>(std::popcount(before));
  const auto is = static_cast<uint32_t>(std::popcount(idle_gpus_[n.index]));
  for (uint32_t k = is + 1; k <= was; ++k) with_idle_gpus_[k].erase(n);
  for (uint32_t k = was + 1; k <= is; ++k) with_idle_gpus_[k].insert(n);
}

void ClusterState::count_free(NodeId n, const Resources& delta, int sign) {
  if (!up_.contains(n)) return;
  for (size_t r = 0; r < kResources; ++r) free_up_.amount[r] += sign * delta.amount[r];
}

void ClusterState::take(NodeId n, const Request& request, DeviceGrant grant) {
  const size_t i = n.index;
  for (size_t r = 0; r < kResources; ++r) {
    requested_[r][i] += request.resources.amount[r];
    ORRERY_CHECK(requested_[r][i] <= allocatable_[r][i], "a node never holds more than it has");
  }
  nonzero_cpu_[i] += request.nonzero_cpu;
  nonzero_memory_[i] += request.nonzero_memory;
  const GpuMask before = idle_gpus_[i];
  for (uint32_t mask = grant.gpus; mask != 0; mask &= mask - 1) {
    const auto gpu = static_cast<size_t>(std::countr_zero(mask));
    ORRERY_CHECK(gpu_left_[i][gpu] >= grant.milli_per_gpu, "a GPU never has more than one owner");
    gpu_left_[i][gpu] = static_cast<int16_t>(gpu_left_[i][gpu] - grant.milli_per_gpu);
  }
  idle_gpus_[i] = static_cast<GpuMask>(before & ~grant.gpus);
  reindex_gpus(n, before);
  fully_idle_.erase(n);
  gpu_milli_allocated_ += request.resources[Resource::Gpu];
  count_free(n, request.resources, -1);
  touched(n);
}

void ClusterState::give_back(NodeId n, const Request& request, DeviceGrant grant) {
  const size_t i = n.index;
  for (size_t r = 0; r < kResources; ++r) {
    requested_[r][i] -= request.resources.amount[r];
    ORRERY_CHECK(requested_[r][i] >= 0, "nothing is given back twice");
  }
  nonzero_cpu_[i] -= request.nonzero_cpu;
  nonzero_memory_[i] -= request.nonzero_memory;
  const GpuMask before = idle_gpus_[i];
  for (uint32_t mask = grant.gpus; mask != 0; mask &= mask - 1) {
    const auto gpu = static_cast<size_t>(std::countr_zero(mask));
    gpu_left_[i][gpu] = static_cast<int16_t>(gpu_left_[i][gpu] + grant.milli_per_gpu);
    ORRERY_CHECK(gpu_left_[i][gpu] <= kMilli, "no GPU is more than wholly free");
    if (gpu_left_[i][gpu] == kMilli)
      idle_gpus_[i] = static_cast<GpuMask>(idle_gpus_[i] | 1u << gpu);
  }
  reindex_gpus(n, before);
  if (requested_[idx(Resource::Pods)][i] == 0) fully_idle_.insert(n);
  gpu_milli_allocated_ -= request.resources[Resource::Gpu];
  count_free(n, request.resources, 1);
  touched(n);
}

void ClusterState::set_up(NodeId n, bool is_up) {
  if (up_.contains(n) == is_up) return;
  Resources free_now;
  for (size_t r = 0; r < kResources; ++r) {
    free_now.amount[r] = allocatable_[r][n.index] - requested_[r][n.index];
  }
  up_.insert(n);
  count_free(n, free_now, is_up ? 1 : -1);
  up_.assign(n, is_up);
  gpus_up_ += is_up ? int64_t{allocatable_gpus(n)} : -int64_t{allocatable_gpus(n)};
  touched(n);
}

void ClusterState::set_gpu_out(NodeId n, uint32_t gpu, bool is_out) {
  ORRERY_CHECK(hypotheses_ == 0, "what-ifs only take and give back");
  const size_t i = n.index;
  const GpuMask before = idle_gpus_[i];
  const auto bit = static_cast<GpuMask>(1U << gpu);
  ORRERY_CHECK(gpu < gpus(n) && ((gpus_out_[i] & bit) == 0) == is_out,
               "a GPU is taken out once, and put back once");
  ORRERY_CHECK(((before & bit) != 0) == is_out, "a GPU that is taken out has no owner");
  const int sign = is_out ? -1 : 1;
  Resources delta;
  delta[Resource::Gpu] = kMilli;
  int64_t& has = allocatable_[idx(Resource::Gpu)][i];
  has += sign * kMilli;
  ORRERY_CHECK(requested_[idx(Resource::Gpu)][i] <= has, "a node never holds more than it has");
  gpus_out_[i] = static_cast<GpuMask>(gpus_out_[i] ^ bit);
  idle_gpus_[i] = static_cast<GpuMask>(before ^ bit);
  gpu_left_[i][gpu] = static_cast<int16_t>(is_out ? 0 : kMilli);
  reindex_gpus(n, before);
  count_free(n, delta, sign);
  if (up_.contains(n)) gpus_up_ += sign;
  touched(n);
}

void ClusterState::set_cordoned(NodeId n, bool is_cordoned) {
  cordoned_.assign(n, is_cordoned);
  touched(n);
}

void ClusterState::set_taint(NodeId n, const Taint& taint, bool present) {
  with_taint_[intern_taint(taint)].assign(n, present);
  touched(n);
}

size_t ClusterState::memory_bytes() const {
  const size_t set = (nodes() + 63) / 64 * 8;
  size_t sets = 3 + with_idle_gpus_.size() + with_taint_.size();
  for (const LabelIndex& key : labels_) sets += key.values.size();
  size_t bytes = sets * set + log_.capacity() * sizeof(NodeId) + leaf_begin_.size() * 4;
  bytes += nodes() *
           (sizeof(int64_t) * (2 * kResources + 2) + 2 * sizeof(GpuMask) + sizeof(gpu_left_[0]) +
            sizeof(uint16_t) + sizeof(uint32_t) + sizeof(NodeId) + sizeof(std::string));
  for (const std::string& name : names_) bytes += name.capacity() > 15 ? name.capacity() + 1 : 0;
  return bytes;
}

}  // namespace orrery

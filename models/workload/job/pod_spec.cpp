#include "models/workload/job/pod_spec.hpp"

#include <string_view>

namespace orrery {
namespace {

class Hash {
 public:
  void add(uint64_t word) { state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u ^ (state_ >> 29); }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<uint64_t>(static_cast<uint8_t>(c)));
    add(text.size());
  }
  void add(const SelectorTerm& term) {
    for (const Requirement& r : term.all_of) {
      add(r.key);
      add(static_cast<uint64_t>(r.op));
      for (const std::string& value : r.values) add(value);
    }
    add(term.all_of.size());
  }
  void add(const std::vector<NodeLabel>& labels) {
    for (const NodeLabel& label : labels) {
      add(label.key);
      add(label.value);
    }
    add(labels.size());
  }
  void add(const std::vector<PodAffinityTerm>& terms) {
    for (const PodAffinityTerm& term : terms) {
      add(static_cast<uint64_t>(term.topology_key));
      add(term.match_labels);
    }
    add(terms.size());
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x243F6A8885A308D3u;
};

uint64_t hash_of(const PodSpec& spec) {
  Hash hash;
  for (const int64_t word : {spec.cpu_milli, spec.memory_bytes, int64_t{spec.gpus},
                             int64_t{spec.gpu_milli}, int64_t{spec.nics}, int64_t{spec.containers},
                             int64_t{spec.priority}, int64_t{spec.may_preempt}}) {
    hash.add(static_cast<uint64_t>(word));
  }
  hash.add(spec.node_name);
  for (const Toleration& t : spec.tolerations) {
    hash.add(t.key);
    hash.add(t.value);
  }
  for (const SelectorTerm& term : spec.required_terms) hash.add(term);
  for (const PreferredTerm& term : spec.preferred_terms) {
    hash.add(static_cast<uint64_t>(term.weight));
    hash.add(term.term);
  }
  hash.add(spec.labels);
  hash.add(spec.affinity);
  hash.add(spec.anti_affinity);
  for (const TopologySpread& spread : spec.topology_spread) {
    hash.add(static_cast<uint64_t>(spread.max_skew));
    hash.add(spread.match_labels);
  }
  for (const ContainerImage& image : spec.images) {
    hash.add(image.name);
    hash.add(static_cast<uint64_t>(image.bytes));
  }
  return hash.value();
}

}  // namespace

Resources PodSpec::requests() const {
  Resources r;
  r[Resource::Cpu] = cpu_milli;
  r[Resource::Memory] = memory_bytes;
  r[Resource::Gpu] = int64_t{gpus} * gpu_milli;
  r[Resource::Nic] = nics;
  r[Resource::Pods] = 1;
  return r;
}

ClusterState::Request PodSpec::cluster_request() const {
  return {.resources = requests(),
          .nonzero_cpu = cpu_milli != 0 ? cpu_milli : kDefaultCpuMilli * containers,
          .nonzero_memory = memory_bytes != 0 ? memory_bytes : kDefaultMemoryBytes * containers};
}

SpecId SpecTable::intern(const PodSpec& spec) {
  const uint64_t hash = hash_of(spec);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (entries_[it->second.index].spec == spec) return it->second;
  }
  const SpecId id{static_cast<uint32_t>(entries_.size())};
  entries_.push_back({spec, spec.cluster_request()});
  by_hash_.emplace(hash, id);
  return id;
}

}  // namespace orrery

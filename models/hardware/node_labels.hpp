// models/hardware/node_labels.hpp -- node labels and taints, and the constraints of pods on them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/enum_names.hpp"

namespace orrery {

struct NodeLabel {
  std::string key, value;
  bool operator==(const NodeLabel&) const = default;
};
// Keys of node labels, as in Kubernetes and the GPU operator. Nodes without GPUs have no product
// label.
constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
constexpr std::string_view kGpuProductLabel = "nvidia.com/gpu.product";

enum class TaintEffect : uint8_t { NoSchedule, PreferNoSchedule, NoExecute };
constexpr std::array<std::string_view, 3> enum_names(TaintEffect) {
  return {"NoSchedule", "PreferNoSchedule", "NoExecute"};
}
struct Taint {
  std::string key, value;
  TaintEffect effect = TaintEffect::NoSchedule;
  bool operator==(const Taint&) const = default;
};

enum class TolerationOperator : uint8_t { Equal, Exists };
constexpr std::array<std::string_view, 2> enum_names(TolerationOperator) {
  return {"Equal", "Exists"};
}
struct Toleration {
  std::string key;  // with Exists, an empty key matches every key
  TolerationOperator op = TolerationOperator::Equal;
  std::string value;
  bool any_effect = true;
  TaintEffect effect = TaintEffect::NoSchedule;  // unused with any_effect
  bool operator==(const Toleration&) const = default;

  bool tolerates(const Taint& taint) const {
    if (!any_effect && effect != taint.effect) return false;
    if (key.empty()) return op == TolerationOperator::Exists;
    return key == taint.key && (op == TolerationOperator::Exists || value == taint.value);
  }
};

enum class SelectorOperator : uint8_t { In, NotIn, Exists, DoesNotExist, Gt, Lt };
constexpr std::array<std::string_view, 6> enum_names(SelectorOperator) {
  return {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
}
struct Requirement {
  std::string key;
  SelectorOperator op = SelectorOperator::In;
  std::vector<std::string> values;
  bool operator==(const Requirement&) const = default;
};
struct SelectorTerm {  // requirements that must all hold
  std::vector<Requirement> all_of;
  bool operator==(const SelectorTerm&) const = default;
};
struct PreferredTerm {
  int32_t weight = 1;  // 1..100
  SelectorTerm term;
  bool operator==(const PreferredTerm&) const = default;
};

}  // namespace orrery

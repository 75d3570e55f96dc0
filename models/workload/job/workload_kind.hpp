// models/workload/job/workload_kind.hpp -- which controller of Kubernetes creates the pods of a
// job.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery {

enum class WorkloadKind : uint8_t { Job, ReplicaSet, OrderedStatefulSet, ParallelStatefulSet };
constexpr std::array<std::string_view, 4> enum_names(WorkloadKind) {
  return {"job", "replica_set", "ordered_stateful_set", "parallel_stateful_set"};
}

// The number of controllers that create pods. Each has its own workers and client; one controller
// serves both kinds of StatefulSets.
inline constexpr size_t kPodControllers = 3;
constexpr size_t controller_of(WorkloadKind kind) {
  return kind == WorkloadKind::ParallelStatefulSet ? 2 : static_cast<size_t>(kind);
}

}  // namespace orrery

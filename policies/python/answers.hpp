// policies/python/answers.hpp -- checked results of a Python policy's methods.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "models/scheduling/contract/status.hpp"
#include "policies/python/instance.hpp"

namespace orrery::python {

// The policy and the method whose result is checked.
struct Asked {
  const Instance& policy;
  std::string_view method;
};

struct Answer {  // result of an extension point that returns a status
  Code code = Code::Success;
  std::string reason = {};
  Duration timeout = {};
};

inline constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// status_from() returns `otherwise` for None. All functions below throw std::runtime_error if the
// value is not what the Python method must return.
Answer status_from(const Asked& asked, const py::object& given, Code otherwise = Code::Success);
bool bool_from(const Asked& asked, const py::object& given);
int64_t integer_from(const Asked& asked, const py::object& given, int64_t low, int64_t high);
std::optional<int64_t> integer_or_none(const Asked& asked, const py::object& given, int64_t low,
                                       int64_t high);
// Takes an array with a bool for each node of the cluster.
NodeSet nodes_from(const Asked& asked, const py::object& given, size_t nodes);
// Takes an array with a number for each node of the cluster, and sets the scores of `nodes`. Real
// numbers are rounded; NaN and infinity are errors. So are scores outside of 0 to 100, unless the
// policy has normalize().
void scores_from(const Asked& asked, const py::object& given, const ClusterState& cluster,
                 std::span<const NodeId> nodes, std::span<int64_t> scores);
// Sets `scores` from an array of the same length, with numbers from 0 to 100.
void normalised_from(const Asked& asked, const py::object& given, std::span<int64_t> scores);
std::vector<GangDomain> domains_from(const Asked& asked, const py::object& given,
                                     const ClusterState& cluster);
std::vector<std::string> texts_from(const Asked& asked, const py::object& given);
GpuMask gpus_from(const Asked& asked, const py::object& given);

}  // namespace orrery::python

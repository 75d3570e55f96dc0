// models/network/collectives/nccl_tuner.hpp -- durations of NCCL's algorithms by NCCL's own model.
//
// t = latency + bytes / bandwidth for each pair of algorithm and protocol. NCCL runs the fastest
// pair. Constants are from src/graph/tuning.cc of NCCL. NCCL's search for channels is left out: the
// number of channels is the number of NVLink rings or the number of NICs, whichever is larger.
//
// Example: on many nodes, a 1 KiB all-reduce uses a tree with LL, because the latency of a tree
// grows only with log2(nodes). A 1 GiB all-reduce uses a ring with Simple, which has the highest
// bandwidth.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/network/collectives/collectives.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class Algorithm : uint8_t { Tree, Ring, Nvls, NvlsTree, Direct };
constexpr std::array<std::string_view, 5> enum_names(Algorithm) {
  return {"tree", "ring", "nvls", "nvls_tree", "direct"};
}
enum class Protocol : uint8_t { LowLatency, LowLatency128, Simple };
constexpr std::array<std::string_view, 3> enum_names(Protocol) { return {"ll", "ll128", "simple"}; }

struct Candidate {
  Algorithm algorithm = Algorithm::Direct;
  Protocol protocol = Protocol::Simple;
  bool operator==(const Candidate&) const = default;
};

// Empty if NCCL does not offer this algorithm with this protocol to the group. `collective` must
// not be push_pull, which NCCL does not have.
std::optional<Duration> candidate_time(Candidate candidate, Collective collective,
                                       const CommGroup& group, Bytes bytes);

struct TunedTime {
  Candidate candidate;
  Duration time{};
};
// The fastest candidate; ties go to the first algorithm, then to the first protocol. The time is
// Duration::max() for several nodes without NICs.
TunedTime tuned_time(Collective collective, const CommGroup& group, Bytes bytes);
// The fastest protocol of one algorithm; empty if NCCL does not offer the algorithm.
std::optional<TunedTime> tuned_time(Algorithm algorithm, Collective collective,
                                    const CommGroup& group, Bytes bytes);

}  // namespace orrery

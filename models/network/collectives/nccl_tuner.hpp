// models/network/collectives/nccl_tuner.hpp -- how long NCCL's own model says its algorithms take.
//
// t = latency + bytes / bandwidth for every algorithm and protocol; the fastest is what NCCL runs.
// Constants: src/graph/tuning.cc of NCCL. Of what is there only what is fixed by a machine's data
// is here; the search for channels is not: they are the NVLink rings, or the NICs if more.
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

// Nothing: NCCL does not offer it to this group. Must not be push_pull, which NCCL does not know.
std::optional<Duration> candidate_time(Candidate candidate, Collective collective,
                                       const CommGroup& group, Bytes bytes);

struct TunedTime {
  Candidate candidate;
  Duration time{};
};
// The fastest of what is offered; equal ones: the first by algorithm, then protocol. Without a NIC
// several nodes take Duration::max().
TunedTime tuned_time(Collective collective, const CommGroup& group, Bytes bytes);
// By the fastest protocol of one algorithm. Nothing: it is not offered.
std::optional<TunedTime> tuned_time(Algorithm algorithm, Collective collective,
                                    const CommGroup& group, Bytes bytes);

}  // namespace orrery

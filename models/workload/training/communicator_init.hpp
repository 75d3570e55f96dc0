// models/workload/training/communicator_init.hpp -- how long ranks take to find each other and
// connect.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/workload/job/job.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// How the ranks connect. TcpStore: one thread serves all ranks, and communicator groups are made
// one by one, each with a barrier of all ranks. Redis: no single thread, but the same barriers.
// Ordered: neither the single thread nor the barriers.
enum class CommunicatorMethod : uint8_t { TcpStore, Redis, Ordered };
constexpr std::array<std::string_view, 3> enum_names(CommunicatorMethod) {
  return {"tcp_store", "redis", "ordered"};
}

struct CommunicatorParams {
  static constexpr std::string_view kDoc =
      "The time from the start of all ranks until they can communicate. With n ranks tcp_store "
      "takes 86 us * n^2 + 335 ms * n, redis 86 us * n^2, ordered 2.4 ms * n but at most 30 s. The "
      "formulas are fitted to MegaScale's 1047 s, 361 s and less than 5 s on 2,048 GPUs.";

  CommunicatorMethod method = CommunicatorMethod::TcpStore;
  Duration discovery = {};
  Duration kernel_loading = {};

  template <class V>
  void fields(V& v) {
    v("method", method,
      "How the ranks connect. For n ranks, tcp_store takes 86 us * n^2 + 335 ms * n, redis 86 us * "
      "n^2, and ordered 2.4 ms * n but at most 30 s. The formulas are fitted to MegaScale.",
      Source{"PyTorch's default"});
    v("discovery", discovery, "Time until all ranks know the address of the first rank.",
      Source{"the address is in the environment of the pods"});
    v("kernel_loading", kernel_loading,
      "Time to load NCCL's kernels on first use. NCCL issue 1646 reports 52 s on a DGX B200.",
      Source{"the kernels are loaded already"});
  }
};

// How long this many ranks take to connect; 0 for a single rank.
Duration communicator_init_time(const CommunicatorParams& params, int32_t ranks);
// Duration from the start barrier until the job begins to load its checkpoint. `gpus` is the number
// of the job's GPUs that take part.
Duration init_time(const Job& job, int32_t gpus);

}  // namespace orrery

#include "models/workload/training/communicator_init.hpp"

#include <algorithm>

namespace orrery {
namespace {

// In seconds, fitted to MegaScale (NSDI'24, section 3.5) on 2,048 GPUs: barriers alone take 361 s,
// the store adds 686 s, and ordered groups take less than 5 s.
constexpr double kBarrier = 8.6e-5;  // times the square of the number of ranks
constexpr double kStore = 0.335;     // times the number of ranks
constexpr double kOrdered = 2.4e-3;  // times the number of ranks
constexpr double kOrderedMax = 30;   // MegaScale's bound for more than 10,000 GPUs

double meeting_seconds(CommunicatorMethod method, double n) {
  switch (method) {
    case CommunicatorMethod::TcpStore:
      return kBarrier * n * n + kStore * n;
    case CommunicatorMethod::Redis:
      return kBarrier * n * n;
    case CommunicatorMethod::Ordered:
      break;
  }
  return std::min(kOrdered * n, kOrderedMax);
}

}  // namespace

Duration communicator_init_time(const CommunicatorParams& params, int32_t ranks) {
  if (ranks < 2) return {};
  return params.discovery + params.kernel_loading +
         nearest_ns(meeting_seconds(params.method, ranks));
}

Duration init_time(const Job& job, int32_t gpus) {
  const Duration init = job.spec.init + job.spec.init_per_gpu * gpus;
  return job.spec.communicator ? init + communicator_init_time(*job.spec.communicator, gpus) : init;
}

}  // namespace orrery

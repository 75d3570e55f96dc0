// models/control_plane/kubelet/crash_loop.hpp -- the kubelet's backoff of container restarts.
#pragma once

#include "models/control_plane/base/backoff.hpp"
#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

class CrashLoop {
 public:
  explicit CrashLoop(const CrashLoopParams& params) : params_{params} { forget(); }

  // The wait before the next start of a container that ran for `ran`.
  Duration next(Duration ran) {
    if (ran >= params_.reset_after) forget();
    const Duration wait = wait_;
    wait_ = Backoff{params_.initial, params_.most}.next(wait);
    return wait;
  }

 private:
  void forget() { wait_ = params_.is_first_restart_free ? Duration{} : params_.initial; }

  CrashLoopParams params_;
  Duration wait_;
};

}  // namespace orrery

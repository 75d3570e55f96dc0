// sim/cli/stop_signal.hpp -- Ctrl-C and SIGTERM as a flag that a run checks.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>

namespace orrery {

// While an instance exists, the first SIGINT or SIGTERM sets flag() and a second one ends the
// process at once. A signal that was ignored before, as SIGINT is in a background job of a shell
// script, stays ignored. Only one instance may exist at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  const std::atomic<bool>& flag() const;

 private:
  std::array<struct sigaction, 2> former_{};
};

}  // namespace orrery

#include "sim/cli/stop_signal.hpp"

namespace orrery {
namespace {

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

// Global, because a signal handler gets no pointer to an object.
std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a handler may touch nothing else");

extern "C" void orrery_on_stop_signal(int number) {
  if (!stop_asked.exchange(true)) return;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  raise(number);  // takes effect when this handler returns
}

}  // namespace

StopSignal::StopSignal() {
  stop_asked = false;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = orrery_on_stop_signal;
    action.sa_flags = SA_RESTART;  // writes to the output must not fail because of the signal
    sigaction(kSignals[i], &action, &former_[i]);
    if (former_[i].sa_handler == SIG_IGN) sigaction(kSignals[i], &former_[i], nullptr);
  }
}

StopSignal::~StopSignal() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &former_[i], nullptr);
}

const std::atomic<bool>& StopSignal::flag() const { return stop_asked; }

}  // namespace orrery

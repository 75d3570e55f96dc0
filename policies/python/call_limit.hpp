// policies/python/call_limit.hpp -- the host time that a call into Python may take.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/check.hpp"
#include "sim/core/time.hpp"

namespace orrery::python {

// Lasts as long as the call; made and destroyed with the interpreter's lock held. Past the limit
// the exception CallTooLong is raised in the Python code. Code that never returns to Python, or
// that swallows the exception, cannot be unwound: after as long again, and 10 s at least, the
// process ends with the message and exit status 2. Calls that return in time are not affected.
class CallLimit {
 public:
  // `whose`: a class, or a file if there is no `method`; must outlive the call. Zero: no limit.
  CallLimit(Duration limit, std::string_view whose, std::string_view method);
  ~CallLimit();
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  bool is_interrupted() const { return is_interrupted_; }
  // "Mine.score() has not returned after 1min of host time".
  std::string message() const;

 private:
  friend class Watchman;
  using Clock = std::chrono::steady_clock;

  const Duration limit_;
  const std::string_view whose_, method_;
  const CheckContext* context_ = nullptr;  // has the simulated time
  Clock::time_point end_;                  // then the next step is taken
  unsigned long thread_ = 0;               // as Python numbers threads
  uint64_t number_ = 0;                    // of the call
  std::atomic<bool> is_interrupted_ = false;
};

// To be called once, before anything registers handlers of forks that wait for the interpreter.
void prepare_call_limits();

}  // namespace orrery::python

// policies/python/call_limit.hpp -- the limit on host time of a call into Python.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/check.hpp"
#include "sim/core/time.hpp"

namespace orrery::python {

// A CallLimit exists during one call into Python. It is constructed and destroyed with the
// interpreter's lock held. After the limit, the exception CallTooLong is raised in the Python code.
// Code that never returns to Python, or that catches the exception, cannot be interrupted. Such a
// call gets as much time again, but at least 10 s. If it still has not returned, the process ends
// with the message and exit status 2. Calls that return in time are not affected.
class CallLimit {
 public:
  // `whose` names a class or, if `method` is empty, a file. Both texts must outlive the call. A
  // limit of zero is no limit.
  CallLimit(Duration limit, std::string_view whose, std::string_view method);
  ~CallLimit();
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  bool is_interrupted() const { return is_interrupted_; }
  // Example: "Mine.score() has not returned after 1min of host time (timeout)".
  std::string message() const;

 private:
  friend class Watchman;
  using Clock = std::chrono::steady_clock;

  const Duration limit_;
  const std::string_view whose_, method_;
  const CheckContext* context_ = nullptr;  // gives end_process() the simulated time
  Clock::time_point end_;     // when to interrupt the call or, if interrupted, to end the process
  unsigned long thread_ = 0;  // Python's number of the thread
  uint64_t number_ = 0;       // serial number, by which interrupt() checks that the call still runs
  std::atomic<bool> is_interrupted_ = false;
};

// Must be called once, before any fork handler that takes the interpreter's lock is registered.
void prepare_call_limits();

}  // namespace orrery::python

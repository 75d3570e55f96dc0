#include "policies/python/call_limit.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "policies/python/interpreter.hpp"
#include "sim/config/quantity.hpp"

namespace orrery::python {

// One thread checks every 20 ms whether a call is past its limit. To raise an exception in the
// call, a thread needs the interpreter's lock, which a C extension may hold for ever. So each
// exception is raised by a thread of its own, while the first thread continues its checks.
class Watchman {
 public:
  static Watchman& instance() {
    static auto* const watchman = new Watchman;  // never destroyed: its thread outlives all statics
    return *watchman;
  }

  void begin(CallLimit& call) {
    const std::lock_guard lock{mutex_};
    call.number_ = ++calls_;
    running_.push_back(&call);
    if (std::exchange(is_watching_, true)) return;
    std::thread{[this] { watch(); }}.detach();
  }
  // Returns whether the call was interrupted.
  bool end(const CallLimit& call) {
    const std::lock_guard lock{mutex_};
    std::erase(running_, &call);
    return call.is_interrupted();
  }

 private:
  Watchman() { static_cast<void>(pthread_atfork(before_fork, after_fork, after_fork_in_child)); }

  static void before_fork() { instance().mutex_.lock(); }
  static void after_fork() { instance().mutex_.unlock(); }
  static void after_fork_in_child() {  // only the forking thread exists in the child
    instance().is_watching_ = false;
    instance().mutex_.unlock();
  }

  void watch() {
    while (true) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      const std::lock_guard lock{mutex_};
      const auto now = CallLimit::Clock::now();
      for (CallLimit* const call : running_) {
        if (now < call->end_) continue;
        if (call->is_interrupted_) end_process(*call);
        call->is_interrupted_ = true;
        const auto more = std::max(std::chrono::nanoseconds{call->limit_.ns},
                                   std::chrono::nanoseconds{std::chrono::seconds{10}});
        call->end_ = now + more;
        std::thread{[this, number = call->number_] { interrupt(number); }}.detach();
      }
    }
  }
  void interrupt(uint64_t number) {
    const py::gil_scoped_acquire python;
    const py::object exception = policy_code().attr("CallTooLong");
    const std::lock_guard lock{mutex_};
    const auto is_it = [&](const CallLimit* call) { return call->number_ == number; };
    const auto call = std::ranges::find_if(running_, is_it);
    if (call != running_.end()) PyThreadState_SetAsyncExc((*call)->thread_, exception.ptr());
  }
  [[noreturn]] static void end_process(const CallLimit& call) {
    static_cast<void>(exchange_check_context(call.context_));
    std::string text = call.message() + ", nor when it was interrupted";
    const std::string where = check_context_text();
    if (!where.empty()) text.append("\n  ").append(where);
    std::fprintf(stderr, "policy 'Python' failed: %s\n", text.c_str());
    std::_Exit(2);
  }

  // A thread that holds the interpreter's lock may lock this mutex. A thread that holds this mutex
  // must not wait for the interpreter's lock.
  std::mutex mutex_;
  // The calls that have not returned. They may be nested: Python may call the job queue, which
  // calls Python.
  std::vector<CallLimit*> running_;
  uint64_t calls_ = 0;
  bool is_watching_ = false;
};

CallLimit::CallLimit(Duration limit, std::string_view whose, std::string_view method)
    : limit_{limit}, whose_{whose}, method_{method} {
  if (limit == Duration{}) return;
  context_ = exchange_check_context(nullptr);
  static_cast<void>(exchange_check_context(context_));
  end_ = Clock::now() + std::chrono::nanoseconds{limit.ns};
  thread_ = PyThread_get_thread_ident();
  Watchman::instance().begin(*this);
}

CallLimit::~CallLimit() {
  if (limit_ == Duration{}) return;
  // An exception that was set but not raised yet must not be raised in the next call.
  if (Watchman::instance().end(*this)) PyThreadState_SetAsyncExc(thread_, nullptr);
}

std::string CallLimit::message() const {
  std::string text{whose_};
  if (!method_.empty()) text.append(".").append(method_).append("()");
  return text.append(" has not returned after ")
      .append(format_quantity(limit_))
      .append(" of host time (timeout)");
}

void prepare_call_limits() { static_cast<void>(Watchman::instance()); }

}  // namespace orrery::python

// sim/engine/process.hpp -- a script in simulated time, written as a C++20 coroutine.
//
// Two rules, enforced by tests/tidy: `co_await` is used only as `co_await f(...);` or
// `auto x = co_await f(...);`, because GCC 12 destroys temporaries of some other forms twice, or
// never. No lambda is a coroutine, because a lambda may be destroyed before its coroutine ends.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/frame_pool.hpp"

namespace orrery {

// What a suspended process waits for, such as a semaphore. `abandon` is called if the process is
// killed while it waits.
class Wait {
 public:
  virtual void abandon(std::coroutine_handle<struct ProcessPromise> handle) = 0;

 protected:
  ~Wait() = default;
};

class Process;

// The state of a process. kill() first calls wait->abandon(), which removes a waiting process from
// its queue, such as the queue of a semaphore. Then kill() destroys the frame. So no awaiter needs
// a destructor. GCC 12 would call the destructors of some awaiters twice.
struct ProcessPromise {
  Engine* engine = nullptr;
  EventId wakeup;        // pending while asleep, or while woken but not resumed
  Wait* wait = nullptr;  // set while in a queue, and then until resumed
  Label label{"process"};
  bool is_running = false;
  static void* operator new(size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, size_t size) { free_frame(frame, size); }
  inline Process get_return_object();
  std::suspend_always initial_suspend() const noexcept { return {}; }
  std::suspend_always final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  // Called when an exception has ended the script. The exception propagates through the event that
  // resumed the script.
  void unhandled_exception() {
    is_running = false;
    throw;
  }
};

class [[nodiscard]] Process {
 public:
  using promise_type = ProcessPromise;
  using Handle = std::coroutine_handle<promise_type>;

  Process() = default;
  Process(Process&& other) noexcept : handle_{std::exchange(other.handle_, {})} {}
  Process& operator=(Process&& other) noexcept {
    if (this != &other) {
      kill();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Process() { kill(); }

  // The script begins in a new event at the present instant. The Process object owns the script, so
  // the object's destructor kills it.
  void start(Engine& engine, Label label) {
    ORRERY_CHECK(handle_, "only a script can start");
    ORRERY_CHECK(promise().engine == nullptr, "a script starts once");
    promise().engine = &engine;
    promise().label = label;
    wake(handle_);
  }
  bool done() const { return !handle_ || handle_.done(); }
  // Ends the script at its present wait and destroys its local variables. A script must not kill
  // itself; it returns instead.
  void kill() {
    if (!handle_) return;
    ORRERY_CHECK(!handle_.promise().is_running, "a process does not kill itself");
    const Handle handle = std::exchange(handle_, {});
    promise_type& promise = handle.promise();
    if (promise.engine != nullptr) promise.engine->cancel(promise.wakeup);
    if (promise.wait != nullptr) promise.wait->abandon(handle);
    handle.destroy();
  }

  // Resumes the process in a new event. So no resumption is nested in another one, and no symmetric
  // transfer is used.
  static void wake(Handle handle, Duration delay = {}) { wake(handle, delay, handle.address()); }
  // Like wake(handle, delay). Before the process resumes, the event queue prefetches what `touched`
  // points to.
  static void wake(Handle handle, Duration delay, const void* touched) {
    promise_type& promise = handle.promise();
    promise.wakeup = promise.engine->after(delay, promise.label, [handle, touched] {
      static_cast<void>(touched);  // captured for Callback::prefetch
      resume(handle);
    });
  }

 private:
  friend ProcessPromise;
  explicit Process(Handle handle) : handle_{handle} {}
  promise_type& promise() const { return handle_.promise(); }
  static void resume(Handle handle) {
    handle.promise().is_running = true;
    handle.resume();
    handle.promise().is_running = false;
  }
  Handle handle_;
};

inline Process ProcessPromise::get_return_object() {
  return Process{Process::Handle::from_promise(*this)};
}

struct [[nodiscard]] DelayAwaiter {
  Duration delay;
  bool await_ready() const noexcept { return false; }
  void await_suspend(Process::Handle handle) const { Process::wake(handle, delay); }
  void await_resume() const noexcept {}
};
inline DelayAwaiter sleep_for(Duration delay) { return {delay}; }

struct [[nodiscard]] TouchingDelayAwaiter {
  Duration delay;
  const void* touched;
  bool await_ready() const noexcept { return false; }
  void await_suspend(Process::Handle handle) const { Process::wake(handle, delay, touched); }
  void await_resume() const noexcept {}
};
// Like sleep_for(delay), for models with very many processes. `touched` is an object that the
// process will use after waking, so it is prefetched. The order of events does not depend on this
// hint.
inline TouchingDelayAwaiter sleep_for(Duration delay, const void* touched) {
  return {delay, touched};
}

}  // namespace orrery

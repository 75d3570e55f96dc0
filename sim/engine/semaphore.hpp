// sim/engine/semaphore.hpp -- a counted resource for which processes wait.
#pragma once

#include <deque>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/engine/process.hpp"

namespace orrery {

// Leases are granted in FIFO order. Hold a lease in a named variable:
//   auto lease = co_await semaphore.acquire();
class Semaphore final : private Wait {
 public:
  explicit Semaphore(int capacity) : free_{capacity} {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  ~Semaphore() { ORRERY_CHECK(waiting_.empty(), "a semaphore outlives those that wait for it"); }

  class [[nodiscard]] Lease {
   public:
    Lease() = default;
    explicit Lease(Semaphore& semaphore) : semaphore_{&semaphore} {}
    Lease(Lease&& other) noexcept : semaphore_{std::exchange(other.semaphore_, nullptr)} {}
    Lease& operator=(Lease&& other) noexcept {
      if (this != &other) {
        release();
        semaphore_ = std::exchange(other.semaphore_, nullptr);
      }
      return *this;
    }
    ~Lease() { release(); }
    void release() {
      if (semaphore_ != nullptr) std::exchange(semaphore_, nullptr)->give_back();
    }

   private:
    Semaphore* semaphore_ = nullptr;
  };
  struct [[nodiscard]] Awaiter {
    Semaphore& semaphore;
    Process::Handle handle;
    bool await_ready() const noexcept { return semaphore.try_take(); }
    void await_suspend(Process::Handle waiter) {
      handle = waiter;
      waiter.promise().wait = &semaphore;
      semaphore.waiting_.push_back(waiter);
    }
    Lease await_resume() const {
      if (handle) handle.promise().wait = nullptr;
      return Lease{semaphore};
    }
  };
  Awaiter acquire() { return {*this, {}}; }
  int available() const { return free_; }
  size_t waiting() const { return waiting_.size(); }

 private:
  void abandon(Process::Handle handle) override {
    const bool was_queued = std::erase(waiting_, handle) > 0;
    if (!was_queued) give_back();  // the process got the unit, but was killed first
  }
  bool try_take() {
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  void give_back() {
    if (waiting_.empty()) {
      ++free_;
      return;
    }
    const Process::Handle next = waiting_.front();  // gets the released unit directly
    waiting_.pop_front();
    Process::wake(next);
  }
  int free_;
  std::deque<Process::Handle> waiting_;
};

}  // namespace orrery

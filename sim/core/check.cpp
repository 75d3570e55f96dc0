#include "sim/core/check.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace orrery {
namespace {

thread_local const CheckContext* context_of_thread = nullptr;
thread_local bool checks_throw = false;
std::atomic<Mark*> marks{nullptr};

}  // namespace

const CheckContext* exchange_check_context(const CheckContext* context) noexcept {
  const CheckContext* const former = context_of_thread;
  context_of_thread = context;
  return former;
}

ChecksThrow::ChecksThrow() noexcept : former_{std::exchange(checks_throw, true)} {}
ChecksThrow::~ChecksThrow() { checks_throw = former_; }

void check_failed(const char* file, int line, const char* cond, const char* why) {
  CheckFailed failure;
  char* at = failure.text_;
  size_t room = sizeof failure.text_;
  const int used = std::snprintf(at, room, "%s:%d: check failed: %s: %s", file, line, cond, why);
  const size_t told = std::min(static_cast<size_t>(std::max(used, 0)), room - 1);
  at += told;
  room -= told;
  if (const CheckContext* const c = context_of_thread; c != nullptr) {
    std::snprintf(at, room,
                  "\n  at simulated time %.9f s in event '%.*s', seed %llu: please report this",
                  static_cast<double>(c->now_ns) * 1e-9, c->label_length, c->label,
                  static_cast<unsigned long long>(c->seed));
  }
  if (checks_throw) throw failure;
  std::fprintf(stderr, "%s\n", failure.what());
  std::abort();
}

Mark::Mark(const char* name) noexcept : name_{name}, next_{marks.load()} {
  while (!marks.compare_exchange_weak(next_, this)) {
  }
}

void Mark::hit() noexcept {
  std::atomic_ref<uint64_t>{hits_}.fetch_add(1, std::memory_order_relaxed);
}

uint64_t mark_count(const char* name) noexcept {
  uint64_t hits = 0;
  for (Mark* mark = marks.load(); mark != nullptr; mark = mark->next_) {
    if (std::strcmp(mark->name_, name) == 0) {
      hits += std::atomic_ref<uint64_t>{mark->hits_}.load(std::memory_order_relaxed);
    }
  }
  return hits;
}

}  // namespace orrery

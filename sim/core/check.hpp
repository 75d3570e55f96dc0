// sim/core/check.hpp -- assertions that stay on in every build, and marks on rare branches.
#pragma once

#include <cstdint>
#include <exception>

namespace orrery {

// What a failing check reports beside its text. The running Engine of this thread installs one.
struct CheckContext {
  int64_t now_ns = 0;
  const char* label = "";  // of the event that runs; not null-terminated beyond label_length
  int label_length = 0;
  uint64_t seed = 0;
};

// Swaps the context of this thread and returns the former one (null: none).
const CheckContext* exchange_check_context(const CheckContext* context) noexcept;

// Tells what failed and aborts, or throws CheckFailed.
[[noreturn]] void check_failed(const char* file, int line, const char* cond, const char* why);

class CheckFailed : public std::exception {
 public:
  const char* what() const noexcept override { return text_; }

 private:
  friend void check_failed(const char* file, int line, const char* cond, const char* why);
  char text_[1024] = "";
};

// While one lives, a check that fails in this thread throws CheckFailed: for runs beside others,
// which go on. What the failed run was working on is good for nothing but being destroyed.
class ChecksThrow {
 public:
  ChecksThrow() noexcept;
  ~ChecksThrow();
  ChecksThrow(const ChecksThrow&) = delete;
  ChecksThrow& operator=(const ChecksThrow&) = delete;

 private:
  bool former_;
};

// A static flag per rare branch; tests ask `mark_count("gang.timeout")`.
class Mark {
 public:
  explicit Mark(const char* name) noexcept;
  void hit() noexcept;

 private:
  friend uint64_t mark_count(const char* name) noexcept;
  const char* name_;
  uint64_t hits_ = 0;
  Mark* next_ = nullptr;
};
// How often the branch marked `name` ran in this process, over all threads.
uint64_t mark_count(const char* name) noexcept;

}  // namespace orrery

#define ORRERY_CHECK(cond, why)                               \
  do {                                                        \
    if (!(cond)) [[unlikely]]                                 \
      ::orrery::check_failed(__FILE__, __LINE__, #cond, why); \
  } while (false)

#define ORRERY_MARK(name)                    \
  do {                                       \
    static ::orrery::Mark orrery_mark{name}; \
    orrery_mark.hit();                       \
  } while (false)

// sim/core/check.hpp -- assertions that stay on in every build, and marks on rare branches.
//
// A failed ORRERY_CHECK throws CheckFailed. Only the code that starts a run catches CheckFailed.
// That run ends with the message and exit status 1; other runs of a study continue. The objects of
// the failed run are destroyed. The failed event may have stopped halfway, so checks in destructors
// must hold even after half an event. A check that fails in a destructor or a noexcept function
// prints its message and ends the program.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace orrery {

// What a failed check reports beside its text. The running Engine of this thread sets it.
struct CheckContext {
  int64_t now_ns = 0;
  const char* label = "";  // label of the running event, at most label_length characters
  int label_length = 0;
  uint64_t seed = 0;
};

// Replaces the context of this thread and returns the former one (null: none).
const CheckContext* exchange_check_context(const CheckContext* context) noexcept;

// "at simulated time 1.500000000 s in event 'net.flow_done', seed 1"; empty outside of a run.
std::string check_context_text();

// Throws CheckFailed.
[[noreturn]] void check_failed(const char* file, int line, const char* cond, const char* why);

class CheckFailed : public std::exception {
 public:
  const char* what() const noexcept override { return text_; }

 private:
  friend void check_failed(const char* file, int line, const char* cond, const char* why);
  char text_[1024] = "";
};

// A static counter on a rare branch; tests read `mark_count("gang.timeout")`.
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

#include "sim/cli/study/shared_progress.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>

namespace orrery {

struct SharedProgress::Slot {
  std::atomic<int64_t> now{0}, until{-1};  // in ns; `until` is -1 without an end
  std::atomic<uint64_t> submitted{0}, over{0};
  static_assert(std::atomic<int64_t>::is_always_lock_free, "a lock would be each process's own");
};

SharedProgress::SharedProgress(size_t arms) {
  void* const memory = ::mmap(nullptr, arms * sizeof(Slot), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error{errno, std::generic_category(), "no memory can be shared"};
  }
  slots_ = {static_cast<Slot*>(memory), arms};
  std::uninitialized_default_construct_n(slots_.data(), arms);
}

SharedProgress::~SharedProgress() { ::munmap(slots_.data(), slots_.size_bytes()); }

void SharedProgress::write(size_t arm, const SimulationProgress& progress) {
  Slot& slot = slots_[arm];
  slot.now = progress.now.ns;
  slot.until = progress.until ? progress.until->ns : -1;
  slot.submitted = progress.jobs_submitted;
  slot.over = progress.jobs_over;
}

SimulationProgress SharedProgress::read(size_t arm) const {
  const Slot& slot = slots_[arm];
  SimulationProgress progress{
      .now = Time{slot.now}, .until = {}, .jobs_submitted = slot.submitted, .jobs_over = slot.over};
  if (const int64_t until = slot.until; until >= 0) progress.until = Time{until};
  return progress;
}

}  // namespace orrery

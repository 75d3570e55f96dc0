#include "sim/engine/frame_pool.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <new>

#include "sim/engine/block_pool.hpp"

namespace orrery {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kBlock = size_t{2} << 20;

#if defined(__SANITIZE_ADDRESS__)
// Frames are not pooled, so that the sanitizer finds each use after free.
constexpr size_t kPooledMax = 0;
#elif defined(__has_feature)
constexpr size_t kPooledMax = __has_feature(address_sanitizer) ? 0 : 16 * kLine;
#else
constexpr size_t kPooledMax = 16 * kLine;
#endif

class FramePool {
 public:
  void* take(size_t bytes) {
    const std::lock_guard lock{mutex_};
    if (free_ != nullptr) {
      Free* const frame = free_;
      free_ = frame->next;
      return frame;
    }
    if (left_ < bytes) {
      fresh_ = static_cast<std::byte*>(allocate_block(kBlock));
      left_ = kBlock;
    }
    left_ -= bytes;
    void* const frame = fresh_;
    fresh_ += bytes;
    return frame;
  }
  void give_back(void* frame) {
    const std::lock_guard lock{mutex_};
    free_ = new (frame) Free{free_};
  }

 private:
  struct Free {
    Free* next;
  };
  std::mutex mutex_;
  Free* free_ = nullptr;
  std::byte* fresh_ = nullptr;
  size_t left_ = 0;
};

// One pool for each size in cache lines. Never destroyed: a frame may be freed while the program
// ends.
FramePool& pool_of(size_t lines) {
  static auto* const pools = new std::array<FramePool, kPooledMax / kLine + 1>;
  return (*pools)[lines];
}

}  // namespace

void* allocate_frame(size_t bytes) {
  const size_t lines = (bytes + kLine - 1) / kLine;
  if (bytes <= kPooledMax) return pool_of(lines).take(lines * kLine);
  return ::operator new (lines* kLine, std::align_val_t{kLine});
}

void free_frame(void* frame, size_t bytes) {
  if (bytes <= kPooledMax) return pool_of((bytes + kLine - 1) / kLine).give_back(frame);
  ::operator delete (frame, std::align_val_t{kLine});
}

}  // namespace orrery

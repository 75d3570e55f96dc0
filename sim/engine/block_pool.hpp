// sim/engine/block_pool.hpp -- raw memory in 2 MiB blocks that never move, on huge pages if
// available.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery {

// A block is aligned to `bytes`, which must be a power of two. Throws std::bad_alloc.
void* allocate_block(size_t bytes);
void free_block(void* block, size_t bytes);

// Memory for objects of type T with the indices 0, 1, 2, ... The pool neither constructs nor
// destroys the objects.
template <class T>
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() {
    for (T* const block : blocks_) free_block(block, kBlockBytes);
  }
  T* at(size_t index) const { return blocks_[index / kPerBlock] + index % kPerBlock; }
  size_t used() const { return used_; }
  // Adds uninitialised memory for one more object, and returns its index.
  size_t extend() {
    if (used_ == blocks_.size() * kPerBlock) {
      blocks_.push_back(static_cast<T*>(allocate_block(kBlockBytes)));
    }
    return used_++;
  }

 private:
  static constexpr size_t kBlockBytes = size_t{2} << 20;
  static constexpr size_t kPerBlock = kBlockBytes / sizeof(T);
  static_assert(kBlockBytes % sizeof(T) == 0);

  std::vector<T*> blocks_;
  size_t used_ = 0;
};

}  // namespace orrery

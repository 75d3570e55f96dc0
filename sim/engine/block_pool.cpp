#include "sim/engine/block_pool.hpp"

#include <sys/mman.h>

#include "sim/core/check.hpp"

namespace orrery {

void* allocate_block(size_t bytes) {
  void* const block = std::aligned_alloc(bytes, bytes);
  ORRERY_CHECK(block != nullptr, "out of memory for pending events");
#ifdef MADV_HUGEPAGE
  madvise(block, bytes, MADV_HUGEPAGE);  // a hint: a million random slots outrun the TLB
#endif
  return block;
}

}  // namespace orrery

#include "sim/engine/block_pool.hpp"

#include <sys/mman.h>

#include <new>

namespace orrery {

void* allocate_block(size_t bytes) {
  void* const block = ::operator new (bytes, std::align_val_t{bytes});
#ifdef MADV_HUGEPAGE
  madvise(block, bytes, MADV_HUGEPAGE);  // a hint: random access to a million slots exceeds the TLB
#endif
  return block;
}

void free_block(void* block, size_t bytes) { ::operator delete (block, std::align_val_t{bytes}); }

}  // namespace orrery

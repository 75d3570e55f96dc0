// sim/engine/frame_pool.hpp -- memory for coroutine frames, on huge pages, aligned to cache lines.
#pragma once

#include <cstddef>

namespace orrery {

// Huge pages pay off when a million sleeping processes are resumed in random order: on small pages,
// most resumptions would miss the TLB. The pools serve all runs of the program, like malloc; they
// have no state that affects a run.
void* allocate_frame(size_t bytes);
void free_frame(void* frame, size_t bytes);

}  // namespace orrery

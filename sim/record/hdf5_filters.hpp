// sim/record/hdf5_filters.hpp -- what HDF5's filters make of a chunk, outside of HDF5.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery {

// HDF5 lets one thread in at a time: runs that go on side by side filter their chunks themselves
// and hand HDF5 what it would have made of them, byte for byte.

// The first bytes of all elements of `element` bytes, then their second ones, and so on.
void shuffle(const std::vector<std::byte>& from, size_t element, std::vector<std::byte>& to);

// At a level of 1 to 9.
void deflate(const std::vector<std::byte>& from, int level, std::vector<std::byte>& to);

}  // namespace orrery

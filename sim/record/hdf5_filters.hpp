// sim/record/hdf5_filters.hpp -- HDF5's chunk filters, outside of HDF5.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery {

// HDF5 admits one thread at a time. So parallel runs filter their chunks themselves and pass the
// results to HDF5. The results are those of HDF5's own filters, byte for byte.

// Elements have `element` bytes each. Writes the first byte of every element, then the second byte
// of every element, and so on.
void shuffle(const std::vector<std::byte>& from, size_t element, std::vector<std::byte>& to);

// Compresses with a level of 1 to 9.
void deflate(const std::vector<std::byte>& from, int level, std::vector<std::byte>& to);

}  // namespace orrery

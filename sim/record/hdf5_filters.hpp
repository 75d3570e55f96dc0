// sim/record/hdf5_filters.hpp -- HDF5's chunk filters, outside of HDF5.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery {

// HDF5 admits one thread at a time. So parallel runs filter their chunks themselves and pass the
// results to HDF5, equal byte for byte to those of its own filters.

// First the first bytes of all elements of `element` bytes, then their second bytes, and so on.
void shuffle(const std::vector<std::byte>& from, size_t element, std::vector<std::byte>& to);

// With a level of 1 to 9.
void deflate(const std::vector<std::byte>& from, int level, std::vector<std::byte>& to);

}  // namespace orrery

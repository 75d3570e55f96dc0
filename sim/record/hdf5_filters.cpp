#include "sim/record/hdf5_filters.hpp"

#include <zlib.h>

#include "sim/core/check.hpp"

namespace orrery {

void shuffle(const std::vector<std::byte>& from, size_t element, std::vector<std::byte>& to) {
  to.resize(from.size());
  const size_t count = from.size() / element;
  for (size_t byte = 0; byte < element; ++byte) {
    const std::byte* in = from.data() + byte;
    std::byte* out = to.data() + byte * count;
    for (size_t i = 0; i < count; ++i, in += element) out[i] = *in;
  }
}

void deflate(const std::vector<std::byte>& from, int level, std::vector<std::byte>& to) {
  to.resize(::compressBound(from.size()));
  uLongf size = to.size();
  const int result = ::compress2(reinterpret_cast<Bytef*>(to.data()), &size,
                                 reinterpret_cast<const Bytef*>(from.data()), from.size(), level);
  ORRERY_CHECK(result == Z_OK, "there is room for what zlib makes of a chunk");
  to.resize(size);
}

}  // namespace orrery

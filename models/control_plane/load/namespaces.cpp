#include "models/control_plane/load/namespaces.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

Duration throttled_time(int64_t count, double qps, int64_t burst) {
  ORRERY_CHECK(qps > 0, "the rate of tokens is above 0");
  return nearest_ns(static_cast<double>(std::max<int64_t>(0, count - burst)) / qps);
}

Duration time_to_ask_each(int64_t namespaces, const NamespaceParams& params) {
  return throttled_time(namespaces, params.client_qps, params.client_burst);
}

}  // namespace orrery

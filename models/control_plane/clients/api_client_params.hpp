// models/control_plane/clients/api_client_params.hpp -- rate limits and retries of clients, as a
// scenario describes them.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct ApiClientParams {
  static constexpr std::string_view kDoc = "One kind of client of the API servers.";
  double qps = 5;
  int32_t burst = 10;
  int32_t tries_max = 11;
  Duration backoff = 1_s, backoff_max = 30_s;

  template <class V>
  void fields(V& v) {
    v("qps", qps, "Maximum rate of requests in the long run.", Range{1e-3, 1e9}, Unit{"1/s"},
      Source{"Kubernetes defaults of 2024; client-go's own default: 5"});
    v("burst", burst, "Maximum number of requests at once.", Range{1, 1'000'000}, Unit{"requests"},
      Source{"Kubernetes defaults of 2024; client-go's own default: 10"});
    v("tries_max", tries_max,
      "Maximum number of tries of a request; 1: no retries. Rejected and lost requests are "
      "retried.",
      Range{1, 1'000'000}, Unit{"times"}, Source{"client-go: one try and 10 retries"});
    v("backoff", backoff,
      "Wait before the retry of a request that was lost with its server. The wait doubles with "
      "each loss, up to `backoff_max`. Jitter lengthens each wait by 0 to 100 %.",
      Source{"estimate"}, Heeded{tries_max > 1, "tries_max is 1 (no retries)"});
    v("backoff_max", backoff_max, "Limit on the wait of `backoff`, before jitter.",
      Source{"client-go: reflectors, 30 s"}, Heeded{tries_max > 1, "tries_max is 1 (no retries)"});
  }
  template <class C>
  void check(C& c) const {
    if (backoff_max < backoff) c.error("backoff_max", "must not be less than `backoff`");
  }
};

}  // namespace orrery

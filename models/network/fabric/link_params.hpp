// models/network/fabric/link_params.hpp -- how links recover from errors, as a scenario describes
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct LinkParams {
  static constexpr std::string_view kDoc = "How links recover from errors.";
  Duration ack_timeout = 500_ms;
  std::optional<int32_t> ib_timeout = {};
  std::optional<Duration> retry_timeout = {};

  template <class V>
  void fields(V& v) {
    v("ack_timeout", ack_timeout, "How long a sender waits before it resends a damaged packet.",
      Source{"an estimate that fits an operator's report, in which a bit error rate of 1e-9 made a "
             "link of 200 Gb/s 100 times slower"},
      Heeded{Fact::DamagedPackets});
    v("ib_timeout", ib_timeout,
      "Sets ack_timeout to 4.096 us x 2^T, where T is this value, as NCCL_IB_TIMEOUT does.",
      Range{1, 31},
      Source{
          "without ib_timeout, ack_timeout applies; NCCL's own default is 20, which means 4.3 s"});
    v("retry_timeout", retry_timeout,
      "How long a blocked exchange is retried before NCCL gives up and the job fails. Shorter "
      "outages only stall the job. Absent: 8 times 4.096 us x 2^T, where T is ib_timeout, or 20 if "
      "ib_timeout is absent. With T = 20 this is 34 s.",
      Source{"NCCL: NCCL_IB_TIMEOUT 20, NCCL_IB_RETRY_CNT 7"}, Heeded{Fact::DownLinks});
  }
  template <class C>
  void check(C& c) const {
    if (ib_timeout && c.is_given("ack_timeout")) {
      c.error("ib_timeout", "says the same as ack_timeout: give one of them");
    }
  }
  // How long a sender waits before it resends: 4.096 us x 2^ib_timeout or, without ib_timeout,
  // ack_timeout.
  Duration timeout() const {
    return ib_timeout ? Duration{int64_t{4096} << *ib_timeout} : ack_timeout;
  }
  Duration gives_up_after() const {
    return retry_timeout.value_or(Duration{8 * (int64_t{4096} << ib_timeout.value_or(20))});
  }
};

}  // namespace orrery

// models/faults/link_flaw.hpp -- possible flaws of a cable or a switch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct DeadLink {
  static constexpr std::string_view kKind = "dead";
  static constexpr std::string_view kDoc =
      "The cable or switch carries nothing until it is repaired.";
  template <class V>
  void fields(V&) {}
};
struct FlappingLink {
  static constexpr std::string_view kKind = "flap";
  static constexpr std::string_view kDoc =
      "The cable or switch carries nothing for a while and comes back by itself.";
  Duration median = 3_s;
  double sigma = 0.7;
  template <class V>
  void fields(V& v) {
    v("median", median, "Half of the flaps are shorter than this.", Range{1_ns, Duration::max()},
      Source{"MegaScale, section 6: a port is down for several seconds"});
    v("sigma", sigma,
      "Standard deviation of the logarithm of the duration; 0: all flaps take the median.",
      Range{0.0, 10.0}, Source{"an estimate, with which 1 flap in 20 takes 10 s or more"});
  }
};
struct DegradedLink {
  static constexpr std::string_view kKind = "degraded";
  static constexpr std::string_view kDoc =
      "A bent or dirty cable damages packets. Each damaged packet is sent again after "
      "network.links.ack_timeout.";
  double bit_error_rate = 1e-9;
  template <class V>
  void fields(V& v) {
    v("bit_error_rate", bit_error_rate,
      "Share of bits that arrive wrong. InfiniBand's limit is 1e-12.", Range{1e-18, 0.1},
      Unit{"ratio"}, Source{"chosen to make a link of 200 Gb/s 100 times slower"});
  }
};
struct CursedLink {
  static constexpr std::string_view kKind = "cursed";
  static constexpr std::string_view kDoc =
      "Because of old NIC firmware, the cable is slow while routing is adaptive. The repair "
      "installs new firmware.";
  double factor = 100;
  template <class V>
  void fields(V& v) {
    v("factor", factor, "How many times slower the cable is.", Range{1.0, 1e6}, Unit{"ratio"},
      Source{"Yandex reports 100 to 1,000 times, with HCA firmware up to 20.30.1004"});
  }
};
using LinkFlaw = std::variant<DeadLink, FlappingLink, DegradedLink, CursedLink>;
// In the order of LinkFlaw's alternatives.
enum class LinkFlawKind : uint8_t { Dead, Flap, Degraded, Cursed };
constexpr std::array<std::string_view, 4> enum_names(LinkFlawKind) {
  return {"dead", "flap", "degraded", "cursed"};
}
inline LinkFlawKind kind_of(const LinkFlaw& flaw) {
  return static_cast<LinkFlawKind>(flaw.index());
}

}  // namespace orrery

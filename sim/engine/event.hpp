// sim/engine/event.hpp -- labels, phases and handles of events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/enum_names.hpp"

namespace orrery {

// Names a kind of event: Label{"net.flow_done"}. The digest uses the hash of the text, never
// the address of the text.
class Label {
 public:
  template <size_t N>
  consteval Label(const char (&literal)[N]) : text_{literal} {  // NOLINT: literals convert
    for (size_t i = 0; i + 1 < N; ++i) {
      hash_ = (hash_ ^ static_cast<uint8_t>(literal[i])) * 16777619u;
    }
  }
  constexpr std::string_view text() const { return text_; }
  constexpr const char* c_str() const { return text_; }
  constexpr uint32_t hash() const { return hash_; }

 private:
  const char* text_;
  uint32_t hash_ = 2166136261u;
};

// Order of events of one instant. Within a phase, events run in the order of their scheduling.
enum class Phase : uint8_t {
  Fault,    // hardware changes state
  Model,    // work completes, messages arrive; the default
  Settle,   // shared rates are recomputed, once per instant
  Control,  // controllers and schedulers react to the settled state
  Record,   // samplers read the state
  Audit,    // invariants are checked
};
inline constexpr size_t kPhases = 6;
constexpr std::array<std::string_view, kPhases> enum_names(Phase) {
  return {"fault", "model", "settle", "control", "record", "audit"};
}

// Handle to a pending event. It becomes stale when the event begins to run or is cancelled.
class EventId {
 public:
  constexpr EventId() = default;
  constexpr bool operator==(const EventId&) const = default;

 private:
  friend class EventQueue;
  constexpr explicit EventId(uint64_t ticket) : ticket_{ticket} {}
  uint64_t ticket_ = UINT64_MAX;
};

}  // namespace orrery

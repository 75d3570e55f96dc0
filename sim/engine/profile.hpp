// sim/engine/profile.hpp -- host time of a run: events and nanoseconds by label.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery {

struct ProfileRow {
  std::string_view label;
  uint64_t events = 0;
  int64_t host_ns = 0;  // estimated from sampled events; never part of a digest
};

class Profile {
 public:
  // Counts an event. Returns true if its duration should be measured.
  bool count(const char* label) {
    last_ = &costs_[label];
    ++last_->events;
    return ++turn_ % kSampleStride == 0;
  }
  void add_sample(int64_t host_ns) {
    last_->sampled_ns += host_ns;
    ++last_->samples;
  }
  std::vector<ProfileRow> rows() const;  // sorted by label

 private:
  // A prime: if events repeat with a period of 60, for example, each of the 60 is sampled in turn.
  static constexpr uint64_t kSampleStride = 61;
  struct Cost {
    uint64_t events = 0;
    uint64_t samples = 0;
    int64_t sampled_ns = 0;
  };
  Cost* last_ = nullptr;
  uint64_t turn_ = kSampleStride - 1;  // the first event is a sample
  std::unordered_map<const char*, Cost> costs_;
};

}  // namespace orrery

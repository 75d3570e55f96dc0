// models/control_plane/base/latency_histogram.hpp -- approximate quantiles of durations.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

// Spans share a bucket if their nanoseconds have equally many bits and the same first seven bits. A
// quantile is the middle of its bucket, so its error is at most 1 part in 128. Example: 1,000 us
// and 1,007 us share a bucket, which reports 1,003.5 us. A histogram uses no memory until its first
// span, and allocates nothing later.
class LatencyHistogram {
 public:
  void add(Duration span) {
    if (counts_.empty()) counts_.resize(kBuckets);
    ++counts_[bucket_of(span)];
    ++count_;
    sum_ns_ += static_cast<double>(span.ns);
  }
  uint64_t count() const { return count_; }
  double mean_s() const;                 // NaN without spans
  Duration quantile(double part) const;  // middle of its bucket, by nearest rank; 0 without spans
  void add(const LatencyHistogram& other);
  void clear();

 private:
  static constexpr unsigned kBits = 6;  // bits after the leading 1
  static constexpr size_t kPerOctave = size_t{1} << kBits;
  static constexpr size_t kBuckets = (64 - kBits) * kPerOctave;
  static size_t bucket_of(Duration span) {
    const auto ns = static_cast<uint64_t>(span.ns > 0 ? span.ns : 0);
    if (ns < kPerOctave) return ns;
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kBits;
    return (shift + 1) * kPerOctave + ((ns >> shift) - kPerOctave);
  }
  static Duration middle_of(size_t bucket);

  std::vector<uint32_t> counts_;
  uint64_t count_ = 0;
  double sum_ns_ = 0;
};

}  // namespace orrery

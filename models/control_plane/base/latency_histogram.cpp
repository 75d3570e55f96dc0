#include "models/control_plane/base/latency_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

double LatencyHistogram::mean_s() const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return sum_ns_ / static_cast<double>(count_) * 1e-9;
}

Duration LatencyHistogram::middle_of(size_t bucket) {
  if (bucket < kPerOctave) return {static_cast<int64_t>(bucket)};
  const size_t shift = bucket / kPerOctave - 1;
  const uint64_t low = (kPerOctave + bucket % kPerOctave) << shift;
  return {static_cast<int64_t>(low + ((uint64_t{1} << shift) >> 1))};
}

Duration LatencyHistogram::quantile(double part) const {
  if (count_ == 0) return {};
  const auto rank =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(part * static_cast<double>(count_))));
  uint64_t seen = 0;
  size_t bucket = 0;
  while ((seen += counts_[bucket]) < rank && bucket + 1 < counts_.size()) ++bucket;
  return middle_of(bucket);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  if (counts_.empty()) counts_.resize(kBuckets);
  for (size_t b = 0; b < counts_.size(); ++b) counts_[b] += other.counts_[b];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
}

void LatencyHistogram::clear() {
  std::ranges::fill(counts_, 0U);
  count_ = 0;
  sum_ns_ = 0;
}

}  // namespace orrery

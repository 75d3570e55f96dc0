#include "models/telemetry/running_quantiles.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // result without values

// Number of low bits of a float that do not affect its bucket. Eight bits of exponent and ten bits
// of fraction remain.
constexpr unsigned kDropped = 13;
constexpr size_t kBuckets = size_t{1} << (31 - kDropped);

size_t bucket_of(float value) { return std::bit_cast<uint32_t>(value) >> kDropped; }

float middle_of(size_t bucket) {
  const auto low = static_cast<uint32_t>(bucket << kDropped);
  return bucket == 0 ? 0 : std::bit_cast<float>(low + (1U << (kDropped - 1)));
}

}  // namespace

void RunningQuantiles::add(double value) {
  ORRERY_CHECK(value >= 0, "spans are not negative");
  ++count_;
  sum_ += value;
  const auto kept = static_cast<float>(value);
  if (!counts_.empty()) {
    ++counts_[bucket_of(kept)];
    return;
  }
  values_.push_back(kept);
  if (values_.size() > kExactMax) spill();
}

void RunningQuantiles::spill() {
  counts_.resize(kBuckets);
  for (const float value : values_) ++counts_[bucket_of(value)];
  values_ = {};
}

double RunningQuantiles::mean() const {
  return count_ == 0 ? kNone : sum_ / static_cast<double>(count_);
}

double RunningQuantiles::quantile(uint64_t percent) {
  if (count_ == 0) return kNone;
  const uint64_t rank = (count_ * percent + 99) / 100;  // counted from 1
  if (counts_.empty()) {
    const auto at = values_.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::ranges::nth_element(values_, at);
    return *at;
  }
  uint64_t seen = 0;
  size_t bucket = 0;
  while ((seen += counts_[bucket]) < rank) ++bucket;
  return middle_of(bucket);
}

}  // namespace orrery

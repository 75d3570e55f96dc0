// models/network/sharing/monotone_queue.hpp -- a priority queue whose keys never fall below the
// last key taken.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {

// A radix heap over the bits of non-negative numbers: an item is in the bucket of the highest bit
// in which its key differs from the last key taken, and moves to lower buckets as keys are taken.
// Example with integers: after key 8 (1000), key 9 (1001) is in the bucket of bit 0 and key 12
// (1100) in that of bit 2. A key that equals the last key taken costs O(1). The order of equal keys
// depends only on the order of calls.
class MonotoneQueue {
 public:
  struct Item {
    double key;
    uint32_t value;
  };

  bool empty() const { return size_ == 0; }
  double last_key() const { return std::bit_cast<double>(last_); }  // last key taken; 0 at first
  void restart() {                                                  // allows any key again
    ORRERY_CHECK(empty(), "a queue starts anew when it is empty");
    last_ = 0;
  }
  void push(double key, uint32_t value) {  // key must not be less than the last key taken
    const auto bits = std::bit_cast<uint64_t>(key);
    ORRERY_CHECK(bits >= last_, "keys are taken in order");
    file(bits, {key, value});
    ++size_;
  }
  Item pop() {
    if (buckets_[0].empty()) spread();
    const Item item = buckets_[0].back();
    buckets_[0].pop_back();
    --size_;
    return item;
  }

 private:
  void file(uint64_t bits, const Item& item) {
    const int bucket = 64 - std::countl_zero(bits ^ last_);
    buckets_[static_cast<size_t>(bucket)].push_back(item);
    if (bucket > 0) in_use_ |= uint64_t{1} << (bucket - 1);
  }
  // Empties the lowest bucket that has items. Files these items again, relative to their least key.
  // Items with the least key go to bucket 0.
  void spread() {
    const int place = std::countr_zero(in_use_);
    std::vector<Item>& bucket = buckets_[static_cast<size_t>(place) + 1];
    in_use_ &= in_use_ - 1;
    double least = bucket.front().key;
    for (const Item& item : bucket) least = item.key < least ? item.key : least;
    last_ = std::bit_cast<uint64_t>(least);
    for (const Item& item : bucket) file(std::bit_cast<uint64_t>(item.key), item);
    bucket.clear();
  }

  uint64_t last_ = 0;    // bits of the last key taken
  uint64_t in_use_ = 0;  // one bit for each bucket except the first
  size_t size_ = 0;
  std::array<std::vector<Item>, 65> buckets_;
};

}  // namespace orrery

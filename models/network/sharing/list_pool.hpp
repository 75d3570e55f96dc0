// models/network/sharing/list_pool.hpp -- many short arrays in one block of memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {

// The capacity (`room`) of a list is a power of two. A freed list leaves its memory to the next
// list of the same capacity, so nothing is allocated in a steady state. Adding an item to a list
// may move the items of all lists.
template <class T>
class ListPool {
 public:
  struct List {
    uint32_t begin = 0;
    uint32_t size = 0;
    uint32_t room = 0;
  };

  std::span<T> items(const List& list) { return {items_.data() + list.begin, list.size}; }
  std::span<const T> items(const List& list) const {
    return {items_.data() + list.begin, list.size};
  }
  T& at(const List& list, uint32_t i) { return items_[list.begin + i]; }
  const T& at(const List& list, uint32_t i) const { return items_[list.begin + i]; }

  void push_back(List& list, const T& item) {
    if (list.size == list.room) grow(list, list.size + 1);
    items_[list.begin + list.size++] = item;
  }
  void resize(List& list, uint32_t size, const T& item) {
    if (size > list.room) grow(list, size);
    if (size > list.size) {
      std::fill_n(items_.begin() + list.begin + list.size, size - list.size, item);
    }
    list.size = size;
  }
  void free(List& list) {
    if (list.room > 0) free_[room_class(list.room)].push_back(list.begin);
    list = {};
  }

 private:
  static size_t room_class(uint32_t room) { return static_cast<size_t>(std::countr_zero(room)); }
  void grow(List& list, uint32_t size) {
    const uint32_t room = std::bit_ceil(size);
    std::vector<uint32_t>& free = free_[room_class(room)];
    uint32_t begin = 0;
    if (free.empty()) {
      ORRERY_CHECK(items_.size() + room < UINT32_MAX, "all lists together have 32-bit indices");
      begin = static_cast<uint32_t>(items_.size());
      items_.resize(items_.size() + room);
    } else {
      begin = free.back();
      free.pop_back();
    }
    std::copy_n(items_.begin() + list.begin, list.size, items_.begin() + begin);
    const uint32_t kept = list.size;
    this->free(list);
    list = {.begin = begin, .size = kept, .room = room};
  }

  std::vector<T> items_;
  std::array<std::vector<uint32_t>, 32> free_;  // free slots, by the logarithm of the capacity
};

}  // namespace orrery

// models/control_plane/base/indexed_heap.hpp -- a heap whose members may change their key, or be
// removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {

// Members are small dense ids, each at most once. The least key is on top; among equal keys, the
// least id.
template <class Key>
class IndexedHeap {
 public:
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  bool contains(uint32_t id) const { return id < places_.size() && places_[id] != kNowhere; }
  uint32_t top() const { return entries_.front().id; }
  const Key& top_key() const { return entries_.front().key; }
  const Key& key(uint32_t id) const { return entries_[places_[id]].key; }

  void push(uint32_t id, const Key& key) {
    if (id >= places_.size()) places_.resize(id + 1, kNowhere);
    ORRERY_CHECK(places_[id] == kNowhere, "an id is in a heap at most once");
    entries_.push_back({key, id});
    rise(entries_.size() - 1);
  }
  void update(uint32_t id, const Key& key) {
    const size_t place = places_[id];
    entries_[place].key = key;
    rise(place);
    sink(places_[id]);
  }
  void erase(uint32_t id) {
    const size_t place = places_[id];
    ORRERY_CHECK(place < entries_.size(), "only an id in the heap is erased");
    places_[id] = kNowhere;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (place == entries_.size()) return;
    entries_[place] = last;
    places_[last.id] = static_cast<uint32_t>(place);
    rise(place);
    sink(places_[last.id]);
  }
  void clear() {
    for (const Entry& entry : entries_) places_[entry.id] = kNowhere;
    entries_.clear();
  }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;
  struct Entry {
    Key key;
    uint32_t id;
    bool before(const Entry& other) const {
      return key < other.key || (!(other.key < key) && id < other.id);
    }
  };
  void put(size_t place, const Entry& entry) {
    entries_[place] = entry;
    places_[entry.id] = static_cast<uint32_t>(place);
  }
  void rise(size_t place) {
    const Entry entry = entries_[place];
    for (; place > 0; place = (place - 1) / 2) {
      if (!entry.before(entries_[(place - 1) / 2])) break;
      put(place, entries_[(place - 1) / 2]);
    }
    put(place, entry);
  }
  void sink(size_t place) {
    const Entry entry = entries_[place];
    for (;;) {
      size_t child = 2 * place + 1;
      if (child >= entries_.size()) break;
      if (child + 1 < entries_.size() && entries_[child + 1].before(entries_[child])) ++child;
      if (!entries_[child].before(entry)) break;
      put(place, entries_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> places_;  // index in entries_, by id
};

}  // namespace orrery

// models/hardware/node_set.hpp -- a set of nodes as bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/id.hpp"

namespace orrery {

class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(size_t nodes) : nodes_{nodes}, words_((nodes + 63) / 64) {}
  static NodeSet all(size_t nodes) {
    NodeSet set{nodes};
    set.fill();
    return set;
  }

  size_t universe() const { return nodes_; }  // ids of nodes are below this number
  bool contains(NodeId n) const { return (words_[n.index >> 6] >> (n.index & 63) & 1) != 0; }
  void insert(NodeId n) { words_[n.index >> 6] |= bit(n); }
  void erase(NodeId n) { words_[n.index >> 6] &= ~bit(n); }
  void assign(NodeId n, bool in) { in ? insert(n) : erase(n); }
  void clear() { std::ranges::fill(words_, 0); }
  void fill() {
    std::ranges::fill(words_, ~uint64_t{0});
    if (nodes_ % 64 != 0) words_.back() = (uint64_t{1} << (nodes_ % 64)) - 1;
  }
  void insert_range(NodeId from, NodeId end) {  // all of [from, end)
    for (uint32_t at = from.index; at < end.index; at = (at | 63U) + 1) {
      uint64_t word = ~uint64_t{0} << (at & 63U);
      if ((at | 63U) >= end.index) word &= (uint64_t{1} << (end.index & 63U)) - 1;
      words_[at >> 6U] |= word;
    }
  }
  size_t count() const {
    size_t n = 0;
    for (const uint64_t word : words_) n += static_cast<size_t>(std::popcount(word));
    return n;
  }
  bool empty() const {
    return std::ranges::all_of(words_, [](uint64_t word) { return word == 0; });
  }
  NodeSet& operator&=(const NodeSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  NodeSet& operator|=(const NodeSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  NodeSet& operator-=(const NodeSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  bool operator==(const NodeSet&) const = default;

  template <class F>
  void for_each(F&& f) const {  // in id order
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) f(id_of(i, word));
    }
  }
  template <class F>
  void for_each_of_both(const NodeSet& other, F&& f) const {  // in id order
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i] & other.words_[i]; word != 0; word &= word - 1) {
        f(id_of(i, word));
      }
    }
  }
  template <class Keep>
  void keep_if(Keep&& keep) {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        if (!keep(id_of(i, word))) words_[i] &= ~(word & (~word + 1));
      }
    }
  }
  // The first member at or after `from`; an invalid id if there is no such member.
  NodeId next(NodeId from) const {
    if (from.index >= nodes_) return {};
    size_t i = from.index >> 6;
    uint64_t word = words_[i] & (~uint64_t{0} << (from.index & 63));
    while (word == 0) {
      if (++i == words_.size()) return {};
      word = words_[i];
    }
    return id_of(i, word);
  }
  // The first node in both sets at or after `from` and before `end`; an invalid id if there is no
  // such node.
  NodeId next_of_both(const NodeSet& other, NodeId from, size_t end) const {
    uint64_t mask = ~uint64_t{0} << (from.index & 63);
    for (size_t i = from.index >> 6; i * 64 < end; ++i, mask = ~uint64_t{0}) {
      const uint64_t word = words_[i] & other.words_[i] & mask;
      if (word == 0) continue;
      const NodeId found = id_of(i, word);
      return found.index < end ? found : NodeId{};
    }
    return {};
  }
  std::span<const uint64_t> words() const { return words_; }

 private:
  static uint64_t bit(NodeId n) { return uint64_t{1} << (n.index & 63); }
  static NodeId id_of(size_t word_index, uint64_t word) {
    return {static_cast<uint32_t>(word_index * 64 + static_cast<size_t>(std::countr_zero(word)))};
  }
  size_t nodes_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace orrery

// sim/core/id.hpp -- typed dense indices and vectors indexed by them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orrery {

// A dense index with its own type, so indices of two kinds cannot be confused.
template <class Tag>
struct Id {
  uint32_t index = UINT32_MAX;
  constexpr auto operator<=>(const Id&) const = default;
  constexpr bool is_valid() const { return index != UINT32_MAX; }
};

using NodeId = Id<struct NodeTag>;
using GpuId = Id<struct GpuTag>;
using NicId = Id<struct NicTag>;    // compute NICs, numbered node by node
using LinkId = Id<struct LinkTag>;  // a cable has a link in each direction
using JobId = Id<struct JobTag>;
using GangId = Id<struct GangTag>;
using RoleId = Id<struct RoleTag>;
using PodId = Id<struct PodTag>;
using SpecId = Id<struct SpecTag>;  // pods with equal specs have the same id

// A vector whose index is an id of type I.
template <class I, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size, const T& value = T{}) : items_(size, value) {}
  T& operator[](I id) { return items_[id.index]; }
  const T& operator[](I id) const { return items_[id.index]; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void resize(size_t size) { items_.resize(size); }
  void assign(size_t size, const T& value) { items_.assign(size, value); }
  I push_back(T value) {
    items_.push_back(std::move(value));
    return I{static_cast<uint32_t>(items_.size() - 1)};
  }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  const T* data() const { return items_.data(); }
  T* data() { return items_.data(); }

 private:
  std::vector<T> items_;
};

}  // namespace orrery

// models/scheduling/contract/cached.hpp -- a cache inside a policy.
#pragma once

#include <utility>

namespace orrery {

// A value that const member functions of a policy may compute and store. It must depend only on
// facts that never change in a run, such as node labels and pod specs. So it does not matter which
// of these functions computes it, or when. A policy must not use `mutable` anywhere else.
template <class T>
class Cached {
 public:
  Cached() = default;
  explicit Cached(T value) : value_{std::move(value)} {}
  T& operator*() const { return value_; }
  T* operator->() const { return &value_; }

 private:
  mutable T value_{};
};

}  // namespace orrery

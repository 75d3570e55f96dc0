// models/scheduling/contract/gang_map.hpp -- values that a policy stores for gangs until their jobs
// are over.
#pragma once

#include <cstddef>
#include <vector>

#include "models/scheduling/contract/handle.hpp"

namespace orrery {

// Values by gang. A gang without a stored value has T{}. Ids of gangs are reused, so the framework
// clears the value of a gang whose job is over.
template <class T>
class GangMap final : private GangMemory {
 public:
  explicit GangMap(Handle& handle) { handle.clear_with_gangs(*this); }
  GangMap(const GangMap&) = delete;
  GangMap& operator=(const GangMap&) = delete;

  T& operator[](GangId gang) {
    if (gang.index >= values_.size()) values_.resize(gang.index + size_t{1});
    return values_[gang.index];
  }
  // The gang's value; T{} if none was stored.
  const T& at(GangId gang) const {
    return gang.index < values_.size() ? values_[gang.index] : none_;
  }

 private:
  void gang_over(GangId gang) override {
    if (gang.index < values_.size()) values_[gang.index] = T{};
  }
  const T none_{};
  std::vector<T> values_;
};

}  // namespace orrery

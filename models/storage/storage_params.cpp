#include "models/storage/storage_params.hpp"

#include <algorithm>

namespace orrery {
namespace {

template <class Params>
void check_rates(const Params& params, Checker& c) {
  if (params.write.bits_per_s <= 0) c.error("write", "must be more than 0");
  if (params.read.bits_per_s <= 0) c.error("read", "must be more than 0");
}

}  // namespace

void StoreParams::check(Checker& c) const {
  check_rates(*this, c);
  if (name.empty()) c.error("name", "must not be empty");
  if (name == kLocalStore) c.error("name", "must not be `local`, the name of the nodes' own disks");
}

void LocalDiskParams::check(Checker& c) const { check_rates(*this, c); }

void NodeStorageParams::check(Checker& c) const { check_rates(*this, c); }

void StorageParams::check(Checker& c) const {
  for (size_t i = 0; i < stores.size(); ++i) {
    const auto before = std::ranges::find(stores.begin(), stores.begin() + static_cast<int64_t>(i),
                                          stores[i].name, &StoreParams::name);
    if (before == stores.begin() + static_cast<int64_t>(i)) continue;
    c.error("stores[" + std::to_string(i) + "].name", "another store has this name");
  }
}

std::vector<std::string> StorageParams::names() const {
  std::vector<std::string> names;
  for (const StoreParams& store : stores) names.push_back(store.name);
  if (local) names.emplace_back(kLocalStore);
  return names;
}

}  // namespace orrery

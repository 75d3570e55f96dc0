// models/control_plane/etcd/etcd_memory.hpp -- memory of etcd for watchers and keys.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"

namespace orrery {

// Published by etcd: connections * (17 kB + streams * (18 kB + watches * 350 B)). For each kind of
// object, an API server has one connection with one watch (KEP-2340), however many clients it has.
struct EtcdWatchers {
  int64_t connections = 0;
  int64_t streams = 1;  // per connection
  int64_t watches = 1;  // per stream
};
constexpr Bytes memory_of(const EtcdWatchers& w) {
  return {w.connections * (17'000 + w.streams * (18'000 + w.watches * 350))};
}

// Published by etcd: keys * (120 B + length of a key) + versions * (30 B + a pointer of 8 B).
struct EtcdKeys {
  int64_t keys = 0;
  int64_t versions = 0;  // over all keys
  Bytes key = {};        // length of a key
};
constexpr Bytes memory_of(const EtcdKeys& k) {
  return {k.keys * (120 + k.key.count) + k.versions * 38};
}

}  // namespace orrery

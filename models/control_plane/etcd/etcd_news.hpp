// models/control_plane/etcd/etcd_news.hpp -- responses, events and counters of etcd.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"

namespace orrery {

enum class EtcdChange : uint8_t { Create, Update, Delete, Event };
enum class EtcdAnswer : uint8_t { Accepted, TooLarge, OutOfSpace };
enum class EtcdNews : uint8_t {
  MemberLost,
  MemberBack,
  OutOfSpace,
  Defragmenting,
  Defragmented,
  SpaceBack
};

struct EtcdCounters {
  uint64_t writes = 0, commits = 0, reads = 0;
  uint64_t too_large = 0, out_of_space = 0;  // rejected writes
  uint64_t timed_out = 0;                    // writes that no leader committed in time
  uint64_t elections = 0;
  Bytes read = {};
};

}  // namespace orrery

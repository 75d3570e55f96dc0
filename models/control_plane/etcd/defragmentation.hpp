// models/control_plane/etcd/defragmentation.hpp -- how an administrator frees space in a full etcd.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/control_plane/etcd/etcd.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/timer.hpp"

namespace orrery {

// Compacts etcd, then copies the live data of one member after another into a new file, the leader
// last. Finally disarms the NOSPACE alarm if there is space again. Example: 2.2 GB in use at
// 2.2 Gbit/s take 8 s a member. With three members, two followers take 8 s each; in these 16 s
// the other two members serve reads. Then the leader takes 8 s, in which nothing is committed.
class Defragmentation {
 public:
  Defragmentation(Engine& engine, Etcd& etcd, Bandwidth rate);
  Defragmentation(const Defragmentation&) = delete;
  Defragmentation& operator=(const Defragmentation&) = delete;

  void start();  // no effect while a defragmentation is under way

 private:
  std::optional<uint32_t> next() const;
  void defragment_next();
  void end_member();

  Etcd& etcd_;
  Bandwidth rate_;
  std::vector<bool> is_done_;  // by member
  std::optional<uint32_t> member_;
  bool has_shrunk_ = false;  // since start(), at least one member finished its rewrite
  Timer rewriting_;
};

}  // namespace orrery

// models/control_plane/etcd/etcd_split.hpp -- one etcd for all, or one more for Events.
#pragma once

#include <optional>

#include "models/control_plane/etcd/etcd.hpp"

namespace orrery {

class EtcdSplit {
 public:
  EtcdSplit(Engine& engine, const EtcdParams& params) : objects_{engine, params} {
    if (params.separate_events) events_.emplace(engine, params);
  }
  Etcd& objects() { return objects_; }
  const Etcd& objects() const { return objects_; }
  Etcd& events() { return events_ ? *events_ : objects_; }
  bool is_split() const { return events_.has_value(); }

 private:
  Etcd objects_;
  std::optional<Etcd> events_;
};

}  // namespace orrery

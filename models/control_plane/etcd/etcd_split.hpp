// models/control_plane/etcd/etcd_split.hpp -- one etcd for everything, or a second one for Events.
#pragma once

#include <optional>

#include "models/control_plane/etcd/defragmentation.hpp"
#include "models/control_plane/etcd/etcd.hpp"

namespace orrery {

class EtcdSplit {
 public:
  EtcdSplit(Engine& engine, const EtcdParams& params)
      : objects_{engine, params}, defragmentation_{engine, objects_, params.defragmentation_rate} {
    if (!params.separate_events) return;
    events_.emplace(engine, params);
    defragmentation_of_events_.emplace(engine, *events_, params.defragmentation_rate);
  }
  Etcd& objects() { return objects_; }
  const Etcd& objects() const { return objects_; }
  Etcd& events() { return events_ ? *events_ : objects_; }
  bool is_split() const { return events_.has_value(); }
  void defragment() {
    defragmentation_.start();
    if (is_split()) defragmentation_of_events_->start();
  }

 private:
  Etcd objects_;
  std::optional<Etcd> events_;
  Defragmentation defragmentation_;
  std::optional<Defragmentation> defragmentation_of_events_;
};

}  // namespace orrery

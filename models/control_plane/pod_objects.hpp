// models/control_plane/pod_objects.hpp -- the objects of pods, from creation to deletion.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/control_plane/etcd/etcd_store.hpp"
#include "sim/core/id.hpp"

namespace orrery {

constexpr uint32_t kNobody = UINT32_MAX;
struct PodWrite {
  Verb verb;
  uint32_t name_space;
  uint32_t object = 0;         // the object that is created or deleted
  uint32_t watcher = kNobody;  // reflector of the client that must observe the event
};

// The API objects of pods. An object may be stored although the client gave up its creation. So the
// next creation for the pod uses the same object.
class PodObjects {
 public:
  explicit PodObjects(EtcdStore& store) : store_{store} {}

  // Starts the creation of the pod's object, and returns the object's name.
  uint32_t create(PodId pod, uint32_t name_space) {
    if (pod.index >= of_pods_.size()) of_pods_.resize(pod.index + size_t{1});
    uint32_t& name = of_pods_[pod.index];
    if (name == 0) name = store_.new_name(ApiResource::Pods);
    if (name >= states_.size()) {
      states_.resize(name + size_t{1}, State::Settled);
      name_spaces_.resize(name + size_t{1});
    }
    states_[name] = State::Creating;
    name_spaces_[name] = name_space;
    return name;
  }
  uint32_t name_space(uint32_t name) const { return name_spaces_[name]; }
  // Must be called when the creation has a response or was given up. Returns true if the object
  // must be deleted, because the pod is gone.
  bool settle(uint32_t name) {
    const bool is_wanted = std::exchange(states_[name], State::Settled) == State::Creating;
    return !is_wanted && is_left(name);
  }
  // Must be called when the pod is gone. Returns the object to delete, or 0 if no object is stored.
  // While a creation is open, returns 0, and settle() tells later whether to delete the object.
  uint32_t remove(PodId pod) {
    if (pod.index >= of_pods_.size()) return 0;
    const uint32_t name = std::exchange(of_pods_[pod.index], 0);
    if (name == 0) return 0;
    if (states_[name] == State::Creating) {
      states_[name] = State::Unwanted;
      return 0;
    }
    return is_left(name) ? name : 0;
  }
  void deleted(uint32_t name) { store_.forget(name); }

 private:
  enum class State : uint8_t { Settled, Creating, Unwanted };
  bool is_left(uint32_t name) {
    if (store_.has(name)) return true;
    store_.forget(name);
    return false;
  }

  EtcdStore& store_;
  std::vector<uint32_t> of_pods_;      // name of the pod's object, by pod; 0: none
  std::vector<State> states_;          // by name
  std::vector<uint32_t> name_spaces_;  // by name
};

}  // namespace orrery

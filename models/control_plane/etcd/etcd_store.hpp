// models/control_plane/etcd/etcd_store.hpp -- etcd as the API servers use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/control_plane/base/request.hpp"
#include "models/control_plane/etcd/etcd_split.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// A client whose answer was lost asks again, though etcd may have done what it asked for, or may
// yet do it. Of an object that has a name here, nothing is done twice: creating what is there and
// deleting what is gone succeeds, and takes a commit. What a write does is decided when
// it is committed, as etcd's transactions are.
class EtcdStore final : public ApiStore {
 public:
  explicit EtcdStore(EtcdSplit& etcd) : etcd_{etcd} {}

  uint32_t new_name(ApiResource resource);
  void forget(uint32_t name);      // of what is not there, or of an Event, which stays there
  bool has(uint32_t name) const {  // or may yet, as a write of it waits
    const Object& object = objects_[name];
    return object.is_stored || object.waiting > object.dropped;
  }
  int64_t stored(ApiResource resource) const { return stored_[static_cast<size_t>(resource)]; }
  void preload(uint32_t name, Bytes bytes);  // there before the run
  void drop(uint32_t name);  // deleted by what is a steady load, with what waits to be written

  void write(const ApiRequest& request, Time until, Done done) override;
  void read(const ApiRequest& request, Time until, Done done) override;
  EtcdSplit& etcd() { return etcd_; }
  Signal<ApiResource> changed;  // emitted as the write is committed

 private:
  struct Object {
    ApiResource resource = ApiResource::Pods;
    bool is_stored = false, is_forgotten = false;
    Bytes bytes = {};
    Time written;          // last
    uint32_t waiting = 0;  // writes of it that are not done yet
    uint32_t dropped = 0;  // of these, the first so many: they came before it was dropped
  };
  Etcd& of(const ApiRequest& request) {
    return request.resource == ApiResource::Events ? etcd_.events() : etcd_.objects();
  }
  Etcd::Write write_of(const ApiRequest& request) const;
  void set_stored(uint32_t name, bool is_stored, Bytes bytes);
  void carry_out(const ApiRequest& request);
  void settle(uint32_t name);
  void remove(uint32_t name);
  void reuse_if_forgotten(uint32_t name);

  EtcdSplit& etcd_;
  std::vector<Object> objects_{1};  // by name; 0 stands for what has none
  std::vector<uint32_t> free_;
  std::array<int64_t, kApiResources> stored_ = {};  // of those with names
};

}  // namespace orrery

// models/control_plane/etcd/etcd_store.hpp -- etcd with named objects, for the API servers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/control_plane/base/request.hpp"
#include "models/control_plane/etcd/etcd_split.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// If a response is lost, the client retries, though etcd may have executed the request, or may
// still execute it. For named objects no request takes effect twice: creating an existing object
// and deleting a missing one succeed, at the cost of a commit. The effect of a write is decided at
// its commit, as in etcd's transactions. Example: a create is committed but its response is lost;
// the retry succeeds and etcd has one object.
class EtcdStore final : public ApiStore {
 public:
  explicit EtcdStore(EtcdSplit& etcd) : etcd_{etcd} {}

  uint32_t new_name(ApiResource resource);
  // Frees the name of a missing object, or of an Event. The Event stays in etcd until it expires.
  void forget(uint32_t name);
  bool has(uint32_t name) const {  // stored, or a write sent after drop() is waiting
    const Object& object = objects_[name];
    return object.is_stored || object.waiting > object.dropped;
  }
  int64_t stored(ApiResource resource) const { return stored_[static_cast<size_t>(resource)]; }
  void preload(uint32_t name, Bytes bytes);  // stored before the run
  void drop(uint32_t name);  // deletion by a steady load; also undoes waiting writes

  void write(const ApiRequest& request, Time until, Done done) override;
  void read(const ApiRequest& request, Time until, Done done) override;
  EtcdSplit& etcd() { return etcd_; }
  Signal<ApiResource> changed;  // emitted at the commit of a write with an effect

 private:
  struct Object {
    ApiResource resource = ApiResource::Pods;
    bool is_stored = false, is_forgotten = false;
    Bytes bytes = {};
    Time written;          // last write
    uint32_t waiting = 0;  // open writes of the object
    uint32_t dropped = 0;  // number of the open writes that were sent before drop()
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
  std::vector<Object> objects_{1};  // by name; entry 0 is for anonymous objects
  std::vector<uint32_t> free_;
  std::array<int64_t, kApiResources> stored_ = {};  // named objects that are stored, by resource
};

}  // namespace orrery

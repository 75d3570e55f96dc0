// models/control_plane/etcd_store.hpp -- etcd as the API servers use it.
#pragma once

#include <utility>

#include "models/control_plane/etcd_split.hpp"
#include "models/control_plane/request.hpp"

namespace orrery {

class EtcdStore final : public ApiStore {
 public:
  explicit EtcdStore(EtcdSplit& etcd) : etcd_{etcd} {}

  void write(const ApiRequest& request, Done done) override {
    const Etcd::Write write{
        .bytes = request.bytes, .change = change_of(request), .grown = request.grown};
    const EtcdAnswer answer = of(request).write(write, [done] { done(true); });
    if (answer != EtcdAnswer::Accepted) done(false);
  }
  void read(const ApiRequest& request, Done done) override {
    of(request).read({.bytes = request.bytes, .is_stale_allowed = false},
                     [done = std::move(done)] { done(true); });
  }

 private:
  Etcd& of(const ApiRequest& request) {
    return request.resource == ApiResource::Events ? etcd_.events() : etcd_.objects();
  }
  static EtcdChange change_of(const ApiRequest& request) {
    if (request.resource == ApiResource::Events) return EtcdChange::Event;
    switch (request.verb) {
      case Verb::Create:
        return EtcdChange::Create;
      case Verb::Delete:
      case Verb::DeleteCollection:
        return EtcdChange::Delete;
      default:
        return EtcdChange::Update;
    }
  }

  EtcdSplit& etcd_;
};

}  // namespace orrery

#include "models/control_plane/etcd/etcd_store.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

EtcdChange change_of(const ApiRequest& request) {
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

Etcd::Read read_of(const ApiRequest& request, Time until) {
  return {.bytes = request.bytes,
          .objects = request.verb == Verb::List ? request.objects : 0,
          .until = until};
}

Etcd::Proposal proposal_of(const ApiRequest& request, Time until) {
  return {.bytes = request.bytes,
          .is_deletion = change_of(request) == EtcdChange::Delete,
          .until = until};
}

}  // namespace

uint32_t EtcdStore::new_name(ApiResource resource) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(objects_.size()));
    objects_.emplace_back();
  }
  const uint32_t name = free_.back();
  free_.pop_back();
  objects_[name].resource = resource;
  return name;
}

void EtcdStore::forget(uint32_t name) {
  const bool is_event = objects_[name].resource == ApiResource::Events;
  ORRERY_CHECK(name != 0 && (is_event || !has(name)),
               "only a missing object or an Event is forgotten");
  objects_[name].is_forgotten = true;
  reuse_if_forgotten(name);
}

void EtcdStore::reuse_if_forgotten(uint32_t name) {
  Object& object = objects_[name];
  if (object.waiting > 0 || !std::exchange(object.is_forgotten, false)) return;
  set_stored(name, false, {});
  free_.push_back(name);
}

void EtcdStore::set_stored(uint32_t name, bool is_stored, Bytes bytes) {
  Object& object = objects_[name];
  object.bytes = bytes;
  if (std::exchange(object.is_stored, is_stored) == is_stored) return;
  stored_[static_cast<size_t>(object.resource)] += is_stored ? 1 : -1;
}

void EtcdStore::preload(uint32_t name, Bytes bytes) {
  etcd_.objects().preload(bytes, 1);
  set_stored(name, true, bytes);
}

void EtcdStore::drop(uint32_t name) {
  objects_[name].dropped = objects_[name].waiting;
  remove(name);
}

void EtcdStore::remove(uint32_t name) {
  if (!objects_[name].is_stored) return;
  etcd_.objects().drop(objects_[name].bytes);
  set_stored(name, false, {});
}

// A write that changes nothing gets no bytes: a creation that is repeated, or a deletion of an
// object that is not stored.
Etcd::Write EtcdStore::write_of(const ApiRequest& request) const {
  const EtcdChange change = change_of(request);
  if (request.object == 0) return {.bytes = request.bytes, .change = change};
  const Object& before = objects_[request.object];
  if (change == EtcdChange::Delete) return {.bytes = before.bytes, .change = change};
  if (!before.is_stored) {
    const bool is_event = change == EtcdChange::Event;
    return {.bytes = request.bytes, .change = is_event ? change : EtcdChange::Create};
  }
  const bool is_again = request.verb == Verb::Create && request.bytes == before.bytes;
  if (is_again) return {.bytes = {}, .change = EtcdChange::Update};
  if (change == EtcdChange::Event) {
    return {.bytes = request.bytes, .change = change, .replaced = before.written};
  }
  return {
      .bytes = request.bytes, .change = EtcdChange::Update, .grown = request.bytes - before.bytes};
}

void EtcdStore::carry_out(const ApiRequest& request) {
  const Etcd::Write write = write_of(request);
  const Time now = of(request).store(write);
  const bool is_kept = write.change != EtcdChange::Delete;
  if (request.object != 0) {
    set_stored(request.object, is_kept, is_kept ? request.bytes : Bytes{});
    if (write.bytes.count > 0) objects_[request.object].written = now;
  }
  if (write.bytes.count > 0) changed.emit(request.resource);
}

void EtcdStore::write(const ApiRequest& request, Time until, Done done) {
  const auto settled = [this, request, done](bool is_committed) {
    if (is_committed) carry_out(request);
    if (request.object != 0) settle(request.object);
    done(is_committed);
  };
  const EtcdAnswer answer = of(request).propose(proposal_of(request, until), settled);
  if (answer != EtcdAnswer::Accepted) return done(false);
  if (request.object != 0) ++objects_[request.object].waiting;
}

// Called once for each write of the object, when the write is done. Writes are done in the order
// in which they were proposed.
void EtcdStore::settle(uint32_t name) {
  Object& object = objects_[name];
  --object.waiting;
  if (object.dropped > 0) {
    ORRERY_MARK("etcd_store.dropped_before_it_was_stored");
    --object.dropped;
    remove(name);
  }
  reuse_if_forgotten(name);
}

void EtcdStore::read(const ApiRequest& request, Time until, Done done) {
  of(request).read(read_of(request, until), [done = std::move(done)] { done(true); });
}

}  // namespace orrery

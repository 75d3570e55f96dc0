// models/control_plane/services/endpoints.hpp -- the addresses of one service, and what a change
// writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/control_plane/services/endpoints_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A deletion sends what was there.
struct ObjectWrite {
  enum class Change : uint8_t { Create, Update, Delete };
  Change change = Change::Update;
  uint32_t object = 0;  // which of the service's; numbers are reused
  int32_t addresses = 0;
  Bytes bytes = {};
  int32_t addresses_before = 0;
  Bytes bytes_before = {};  // zero of what is created
};

// Slices are packed as KEP-0752 says, so that few are written: what is new goes first into slices
// that are written anyway; the rest into the fullest other slice that has room for all of it, or
// into new ones. Nothing is moved from one slice to another. An Endpoints object holds the lowest
// addresses_max addresses, so a change among the others writes nothing.
class ServiceEndpoints {
 public:
  explicit ServiceEndpoints(const EndpointsParams& params) : params_{params} {}

  // What one pass of the controller writes; valid until the next. An address is any small number;
  // one that is removed must be present, and one that is added must not, or be removed as well.
  std::span<const ObjectWrite> sync(std::span<const uint32_t> removed,
                                    std::span<const uint32_t> added);
  // All objects are deleted, and the service is as new.
  std::span<const ObjectWrite> clear();

  size_t addresses() const { return count_; }
  size_t objects() const { return objects_; }
  bool has(uint32_t address) const {
    return address < slice_of_.size() && slice_of_[address] != kNone;
  }
  Bytes bytes_of(int32_t addresses) const;  // of an object

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slice {
    int32_t size = 0;
    bool exists = false;
    bool is_touched = false;  // in this pass
  };
  void sync_slices(std::span<const uint32_t> removed, std::span<const uint32_t> added);
  void sync_object(std::span<const uint32_t> removed, std::span<const uint32_t> added);
  void take_out(uint32_t address);
  void put(uint32_t address, uint32_t slice);
  void touch(uint32_t slice);
  uint32_t new_slice();
  uint32_t fullest_with_room(size_t room) const;
  void write(ObjectWrite::Change change, uint32_t object, int32_t addresses);

  EndpointsParams params_;
  size_t count_ = 0, objects_ = 0;
  std::vector<int32_t> written_;    // addresses, by object
  std::vector<uint32_t> slice_of_;  // by address; kNone: it is not of the service
  std::vector<Slice> slices_;
  std::vector<uint32_t> free_slices_;
  std::vector<uint32_t> touched_;
  std::vector<ObjectWrite> writes_;
  std::vector<uint32_t> sorted_;  // addresses of an Endpoints object
};

}  // namespace orrery

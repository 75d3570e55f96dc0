// models/control_plane/services/endpoints.hpp -- the addresses of one service, and the writes that
// a change of addresses causes.
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

// A write of one object. For a deletion, `addresses` and `bytes` are those of the deleted object,
// because the watch event of a deletion contains the object.
struct ObjectWrite {
  enum class Change : uint8_t { Create, Update, Delete };
  Change change = Change::Update;
  uint32_t object = 0;  // index among the service's objects; reused
  int32_t addresses = 0;
  Bytes bytes = {};
  int32_t addresses_before = 0;
  Bytes bytes_before = {};  // zero for a new object
};

// Slices are packed as in KEP-0752, to write few of them. New addresses go first into slices that
// are written anyway. The remaining addresses go into the fullest other slice that has room for all
// of them, or into new slices. Addresses never move between slices. Example: two slices of up to
// 100 addresses hold 100 and 60. If one address of the first slice is replaced by a new address,
// only this slice is written.
//
// With EndpointsKind::Endpoints, a service has one object instead of slices. If the service has
// more addresses than `addresses_max`, the object holds only the lowest addresses. A pass that
// changes only other addresses writes nothing.
class ServiceEndpoints {
 public:
  explicit ServiceEndpoints(const EndpointsParams& params) : params_{params} {}

  // Returns the writes of one pass of the controller. The span is valid until the next call of
  // sync() or clear(). Addresses must be small numbers, because they are indices of a vector. A
  // removed address must be present; an added address must be absent, or be removed in the same
  // pass.
  std::span<const ObjectWrite> sync(std::span<const uint32_t> removed,
                                    std::span<const uint32_t> added);
  // Deletes all objects, and resets the service.
  std::span<const ObjectWrite> clear();

  size_t addresses() const { return count_; }
  size_t objects() const { return objects_; }
  bool has(uint32_t address) const {
    return address < slice_of_.size() && slice_of_[address] != kNone;
  }
  Bytes bytes_of(int32_t addresses) const;  // size of an object with this many addresses

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Slice {
    int32_t size = 0;
    bool exists = false;
    bool is_touched = false;  // written in this pass
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
  std::vector<int32_t> written_;    // number of addresses in the last write, by object
  std::vector<uint32_t> slice_of_;  // slice of each address; kNone: not of the service
  std::vector<Slice> slices_;
  std::vector<uint32_t> free_slices_;
  std::vector<uint32_t> touched_;
  std::vector<ObjectWrite> writes_;
  std::vector<uint32_t> sorted_;  // with kind Endpoints: all addresses of the service
};

}  // namespace orrery

#include "models/control_plane/services/endpoints.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

Bytes ServiceEndpoints::bytes_of(int32_t addresses) const {
  return std::max(params_.object_min, params_.object_bytes + params_.address_bytes * addresses);
}

std::span<const ObjectWrite> ServiceEndpoints::sync(std::span<const uint32_t> removed,
                                                    std::span<const uint32_t> added) {
  writes_.clear();
  if (removed.empty() && added.empty()) return writes_;
  if (params_.kind == EndpointsKind::Endpoints)
    sync_object(removed, added);
  else
    sync_slices(removed, added);
  return writes_;
}

std::span<const ObjectWrite> ServiceEndpoints::clear() {
  writes_.clear();
  const auto exists = [&](uint32_t object) {
    return params_.kind == EndpointsKind::Endpoints
               ? objects_ > 0
               : object < slices_.size() && slices_[object].exists;
  };
  for (uint32_t object = 0; object < written_.size(); ++object) {
    if (exists(object)) write(ObjectWrite::Change::Delete, object, 0);
  }
  count_ = 0;
  written_.clear();
  slice_of_.clear();
  slices_.clear();
  free_slices_.clear();
  sorted_.clear();
  return writes_;
}

void ServiceEndpoints::write(ObjectWrite::Change change, uint32_t object, int32_t addresses) {
  if (object >= written_.size()) written_.resize(object + size_t{1});
  const int32_t before = std::exchange(written_[object], addresses);
  ObjectWrite write{.change = change,
                    .object = object,
                    .addresses = addresses,
                    .bytes = bytes_of(addresses),
                    .addresses_before = before,
                    .bytes_before = bytes_of(before)};
  if (change == ObjectWrite::Change::Create) {
    ++objects_;
    write.bytes_before = {};
  }
  if (change == ObjectWrite::Change::Delete) {
    --objects_;
    write.addresses = before;
    write.bytes = write.bytes_before;
  }
  writes_.push_back(write);
}

void ServiceEndpoints::take_out(uint32_t address) {
  ORRERY_CHECK(has(address), "only an address of the service is removed");
  slice_of_[address] = kNone;
  --count_;
}

void ServiceEndpoints::put(uint32_t address, uint32_t slice) {
  ORRERY_CHECK(!has(address), "an address is in one slice");
  if (address >= slice_of_.size()) slice_of_.resize(address + size_t{1}, kNone);
  slice_of_[address] = slice;
  ++count_;
}

void ServiceEndpoints::sync_object(std::span<const uint32_t> removed,
                                   std::span<const uint32_t> added) {
  const size_t shown_max =
      params_.addresses_max == 0 ? SIZE_MAX : static_cast<size_t>(params_.addresses_max);
  const auto last_shown = [&] {
    return sorted_.size() < shown_max ? kNone : sorted_[shown_max - 1];
  };
  uint32_t limit = last_shown();
  bool is_seen = objects_ == 0;
  for (const uint32_t address : removed) {
    take_out(address);
    sorted_.erase(std::ranges::lower_bound(sorted_, address));
    is_seen |= address <= limit;
  }
  for (const uint32_t address : added) {
    put(address, 0);
    sorted_.push_back(address);
  }
  const auto old_end = sorted_.end() - static_cast<std::ptrdiff_t>(added.size());
  std::sort(old_end, sorted_.end());
  std::inplace_merge(sorted_.begin(), old_end, sorted_.end());
  limit = last_shown();
  is_seen |= std::ranges::any_of(added, [&](uint32_t address) { return address <= limit; });
  if (!is_seen) return;
  write(objects_ == 0 ? ObjectWrite::Change::Create : ObjectWrite::Change::Update, 0,
        static_cast<int32_t>(std::min(sorted_.size(), shown_max)));
}

void ServiceEndpoints::touch(uint32_t slice) {
  if (slices_[slice].is_touched) return;
  slices_[slice].is_touched = true;
  touched_.push_back(slice);
}

uint32_t ServiceEndpoints::new_slice() {
  if (free_slices_.empty()) {
    free_slices_.push_back(static_cast<uint32_t>(slices_.size()));
    slices_.emplace_back();
  }
  const uint32_t slice = free_slices_.back();
  free_slices_.pop_back();
  touch(slice);
  return slice;
}

uint32_t ServiceEndpoints::fullest_with_room(size_t room) const {
  uint32_t best = kNone;
  for (uint32_t i = 0; i < slices_.size(); ++i) {
    const Slice& slice = slices_[i];
    if (!slice.exists || slice.is_touched) continue;
    if (static_cast<size_t>(params_.slice_size - slice.size) < room) continue;
    if (best == kNone || slice.size > slices_[best].size) best = i;
  }
  return best;
}

void ServiceEndpoints::sync_slices(std::span<const uint32_t> removed,
                                   std::span<const uint32_t> added) {
  touched_.clear();
  for (const uint32_t address : removed) {
    ORRERY_CHECK(has(address), "only an address of the service is removed");
    const uint32_t slice = slice_of_[address];
    take_out(address);
    --slices_[slice].size;
    touch(slice);
  }
  size_t next = 0;  // index into `added`
  const auto fill = [&](uint32_t slice) {
    for (; next < added.size() && slices_[slice].size < params_.slice_size; ++next) {
      put(added[next], slice);
      ++slices_[slice].size;
    }
  };
  std::ranges::stable_sort(touched_, std::greater{}, [&](uint32_t s) { return slices_[s].size; });
  for (const uint32_t slice : touched_) fill(slice);
  const size_t rest = added.size() - next;
  if (rest > 0 && rest < static_cast<size_t>(params_.slice_size)) {
    const uint32_t slice = fullest_with_room(rest);
    if (slice != kNone) {
      touch(slice);
      fill(slice);
    }
  }
  while (next < added.size()) fill(new_slice());
  for (const uint32_t i : touched_) {
    Slice& slice = slices_[i];
    slice.is_touched = false;
    if (!slice.exists) {
      slice.exists = true;
      write(ObjectWrite::Change::Create, i, slice.size);
    } else if (slice.size > 0 || objects_ == 1) {  // the only slice stays even if empty
      write(ObjectWrite::Change::Update, i, slice.size);
    } else {
      slice.exists = false;
      free_slices_.push_back(i);
      write(ObjectWrite::Change::Delete, i, 0);
    }
  }
}

}  // namespace orrery

#include "sim/engine/event_queue.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr size_t kStaleMin = 4096;  // fewer stale tickets are not worth a pass over the wheel

}  // namespace

EventQueue::EventQueue(uint32_t pending_max) : pending_max_{pending_max} {
  ORRERY_CHECK(pending_max <= kNoSlot, "a slot index must fit the ticket");
  add_slot();  // creates slot 0: fetch_ahead() may see unused tickets, which are 0
}

EventQueue::~EventQueue() { clear(); }

void EventQueue::add_slot() {
  ORRERY_CHECK(slots_.used() < pending_max_, "too many pending events: raise pending_max");
  const auto index = static_cast<uint32_t>(slots_.extend());
  free(index, *new (slots_.at(index)) Slot);
}

bool EventQueue::cancel(EventId id) {
  if (!contains(id)) return false;
  const uint32_t index = slot_of(id.ticket_);
  Slot& slot = *slots_.at(index);
  ++slot.generation;
  --size_;
  ++stale_;
  // The callback's destructor may schedule events. They cannot take this slot, which is not free
  // until the next statement.
  slot.fn.reset();
  free(index, slot);
  if (stale_ > size_ + kStaleMin) {
    wheel_.purge([this](uint64_t ticket) { return is_stale(ticket); });
    stale_ = 0;
  }
  return true;
}

bool EventQueue::refill(Time end) {
  if (!wheel_.refill(static_cast<uint64_t>(end.ns))) return false;
  for (size_t i = 0; i < kSlotsAhead; ++i) {
    __builtin_prefetch(slots_.at(slot_of(wheel_.ahead(i))), 1);
  }
  for (size_t i = 0; i < kStateAhead; ++i) slots_.at(slot_of(wheel_.ahead(i)))->fn.prefetch();
  return true;
}

Time EventQueue::next_time() const {
  const uint64_t first = wheel_.first_time([this](uint64_t ticket) { return is_stale(ticket); });
  return Time{static_cast<int64_t>(std::min(first, static_cast<uint64_t>(Time::max().ns)))};
}

bool EventQueue::nothing(Time end) {
  if (size_ == 0) {
    wheel_.reset(static_cast<uint64_t>(floor_.ns));
    stale_ = 0;
  } else {
    floor_ = std::max(floor_, end);
  }
  return false;
}

void EventQueue::clear() {
  for (bool has_found = true; has_found;) {
    has_found = false;
    for (size_t i = 0; i < slots_.used(); ++i) {
      Slot& slot = *slots_.at(i);
      if (!slot.fn) continue;
      has_found = true;
      ++slot.generation;
      slot.fn.reset();
      free(static_cast<uint32_t>(i), slot);
    }
  }
  size_ = 0;
  wheel_.reset(static_cast<uint64_t>(floor_.ns));
  stale_ = 0;
}

}  // namespace orrery

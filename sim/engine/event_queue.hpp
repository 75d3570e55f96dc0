// sim/engine/event_queue.hpp -- pending events by time, then phase, then order of scheduling.
//
// An event is a slot of one cache line; its ticket in the RadixWheel names slot and generation:
//   phase:3 | generation:32 | slot:29
// Cancelling frees the slot at once. The ticket becomes stale, and is skipped when due. Example:
// slot 5 goes from generation 2 to 3, so the ticket of generation 2 is stale. Stale tickets are
// purged once they outnumber live ones by over 4,096.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sim/core/callback.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/block_pool.hpp"
#include "sim/engine/event.hpp"
#include "sim/engine/radix_wheel.hpp"

namespace orrery {

class EventQueue {
  struct Slot;

 public:
  // An event removed from the queue, about to run.
  class Due {
   public:
    Time when;
    Phase phase() const { return static_cast<Phase>(ticket_ >> RadixWheel::kPhaseShift); }
    uint32_t label_hash() const { return slot_->label_hash; }
    const char* label() const { return slot_->label; }

   private:
    friend class EventQueue;
    uint64_t ticket_ = 0;
    Slot* slot_ = nullptr;
  };

  explicit EventQueue(uint32_t pending_max);
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue();

  // `when` must not be before floor().
  template <class F>
  EventId push(Time when, Phase phase, Label label, F&& fn) {
    if (free_slot_ == kNoSlot) [[unlikely]]
      add_slot();
    const uint32_t index = free_slot_;
    Slot& slot = *slots_.at(index);
    free_slot_ = slot.label_hash;
    slot.label_hash = label.hash();
    slot.label = label.c_str();
    std::construct_at(&slot.fn, std::forward<F>(fn));  // slot.fn is empty: nothing to destroy
    const uint64_t ticket = uint64_t{static_cast<uint8_t>(phase)} << RadixWheel::kPhaseShift |
                            uint64_t{slot.generation} << kSlotBits | index;
    wheel_.push(static_cast<uint64_t>(when.ns), ticket);
    ++size_;
    return EventId{ticket};
  }
  bool cancel(EventId id);
  bool contains(EventId id) const {
    return slot_of(id.ticket_) < slots_.used() && !is_stale(id.ticket_);
  }
  size_t size() const { return size_; }
  size_t stale() const { return stale_; }  // tickets of cancelled events, not yet skipped
  // Latest of: time of the last popped event, `end` of each pop(end) that found only later events.
  Time floor() const { return floor_; }
  // Due time of the first event; Time::max() if none is pending. Slow: searches the queue.
  Time next_time() const;

  // Removes the first event due by `end`, and stores it in `due`. Returns false if there is none.
  bool pop(Time end, Due& due) {
    for (;;) {
      if (wheel_.ready() == 0 && !refill(end)) return nothing(end);
      const Time when{static_cast<int64_t>(wheel_.head_time())};
      if (when > end) return nothing(end);
      const uint64_t ticket = wheel_.take_head();
      fetch_ahead();
      Slot& slot = *slots_.at(slot_of(ticket));
      if (slot.generation != generation_of(ticket)) {
        --stale_;
        continue;
      }
      ++slot.generation;  // its ticket is stale from here on
      --size_;
      floor_ = when;
      due.when = when;
      due.ticket_ = ticket;
      due.slot_ = &slot;
      return true;
    }
  }
  void run_and_free(const Due& due) {  // call it after each pop() that returned true
    due.slot_->fn();
    due.slot_->fn.reset();
    free(slot_of(due.ticket_), *due.slot_);
  }
  void clear();  // destroys all callbacks, and those that their destructors schedule

 private:
  struct alignas(64) Slot {
    uint32_t generation = 1;
    uint32_t label_hash = 0;  // in a free slot: the next free slot
    const char* label = nullptr;
    Callback fn;
  };
  static_assert(sizeof(Slot) == 64);
  static constexpr unsigned kSlotBits = 29;
  static constexpr uint32_t kNoSlot = (1u << kSlotBits) - 1;
  static constexpr size_t kStateAhead = 10;     // prefetch distance of captured state, in events
  static constexpr size_t kSlotsAhead = 24;     // prefetch distance of slots, in events
  static constexpr size_t kCachedSlots = 8192;  // fewer slots stay in the cache anyway

  static uint32_t slot_of(uint64_t ticket) { return static_cast<uint32_t>(ticket) & kNoSlot; }
  static uint32_t generation_of(uint64_t ticket) {
    return static_cast<uint32_t>(ticket >> kSlotBits);
  }
  bool is_stale(uint64_t ticket) const {
    return slots_.at(slot_of(ticket))->generation != generation_of(ticket);
  }
  // Prefetches data of upcoming events while earlier ones run: first the slot of an event, later
  // what its callback points to.
  void fetch_ahead() {
    if (wheel_.ready() == kSlotsAhead && slots_.used() > kCachedSlots) wheel_.top_up();
    __builtin_prefetch(slots_.at(slot_of(wheel_.ahead(kSlotsAhead - 1))), 1);
    slots_.at(slot_of(wheel_.ahead(kStateAhead - 1)))->fn.prefetch();
  }
  bool refill(Time end);
  void free(uint32_t index, Slot& slot) {
    if (slot.generation == 0) [[unlikely]]
      return;  // the slot has used all generations: an old handle must not become valid again
    slot.label_hash = free_slot_;
    free_slot_ = index;
  }
  void add_slot();
  bool nothing(Time end);

  uint32_t pending_max_;
  uint32_t free_slot_ = kNoSlot;
  size_t size_ = 0;
  size_t stale_ = 0;
  Time floor_;
  BlockPool<Slot> slots_;
  RadixWheel wheel_;
};

}  // namespace orrery

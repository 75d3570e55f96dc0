// sim/engine/radix_wheel.hpp -- tickets ordered by (time, phase, first in first out).
//
// A ticket is filed by the highest byte in which its time differs from `base_`: level = position of
// that byte, bucket = the byte's value. Example: base 0x1000; 0x1005 goes to level 0, bucket 5, and
// 0x1207 to level 1, bucket 0x12. The earliest bucket is the first one of the lowest level in use.
// A small bucket is sorted into the front (`keys_`). A large bucket is spread over lower levels.
// A bucket of level 0 has tickets of one time. If large, it is split into lanes, one for each
// phase. A bucket is a chain of chunks in order of arrival. This order is kept for equal times.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/block_pool.hpp"
#include "sim/engine/event.hpp"
#include "sim/engine/rank_sort.hpp"

namespace orrery {

class RadixWheel {
 public:
  // The top bits of a ticket are its phase; the other bits belong to the caller.
  static constexpr unsigned kPhaseShift = 61;
  static constexpr size_t kLookahead = 32;
  using IsStale = std::function<bool(uint64_t ticket)>;

  RadixWheel();
  // `time` must not be before the last taken ticket or an `end` for which refill() returned false.
  void push(uint64_t time, uint64_t ticket) {
    if (time < limit_) return insert(time, ticket);
    file(time, ticket);
  }

  // Number of tickets in the front. If it is 0, the wheel may still have tickets: call refill().
  size_t ready() const { return end_ - head_; }
  uint64_t head_time() const { return front_base_ + (keys_[head_] >> kPhaseBits); }
  uint64_t take_head() { return tickets_[head_++]; }
  // The ticket `distance` places after the head; past the end of the front, an old ticket or 0.
  uint64_t ahead(size_t distance) const { return tickets_[head_ + distance]; }
  // Fills the empty front, maybe with tickets due after `end`. False: no ticket is due by `end`.
  bool refill(uint64_t end);
  // Appends small buckets of the front's level to the front.
  void top_up();

  // Time of the first ticket that is not stale; UINT64_MAX if all are stale.
  uint64_t first_time(const IsStale& is_stale) const;
  void purge(const IsStale& is_stale);  // drops every stale ticket
  void reset(uint64_t time);            // drops every ticket; pushes restart from `time`

 private:
  static constexpr unsigned kPhaseBits = 64 - kPhaseShift;
  static constexpr unsigned kDigitBits = 8;
  static constexpr unsigned kLevels = 8;
  static constexpr unsigned kDigits = 1u << kDigitBits;
  static constexpr size_t kSortMax = 128;  // larger buckets are spread
  static constexpr size_t kGather = 48;    // the front takes buckets until it has this many tickets
  static constexpr size_t kFrontMax = 4 * kSortMax;  // capacity of the front; see make_room()
  static constexpr size_t kBatch = 32;               // tickets taken from a lane at once

  struct alignas(16) Entry {
    uint64_t time;
    uint64_t ticket;
  };
  struct alignas(256) Chunk {
    static constexpr size_t kEntries = 15;
    Chunk* next;  // a circular chain: the last chunk points to the first
    Entry entries[kEntries];
    void prefetch() const {
      for (size_t i = 0; i < 256; i += 64) {
        __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + i);
      }
    }
  };
  static_assert(sizeof(Chunk) == 256 && offsetof(Chunk, entries) + sizeof(Chunk::entries) == 256);
  struct Bucket {
    Entry* cursor = nullptr;  // place of the next entry; at a chunk's end, a new chunk is needed
    uint32_t count = 0;
  };
  struct Place {
    unsigned level;
    unsigned digit;
  };
  struct Lane {
    std::vector<uint64_t> tickets;
    size_t head = 0;
  };
  static Chunk* last_chunk(const Bucket& bucket);
  template <class Visit>
  static void visit(const Bucket& bucket, const Visit& visit);
  uint64_t key_of(uint64_t time, uint64_t ticket) const {
    return (time - front_base_) << kPhaseBits | ticket >> kPhaseShift;
  }
  Bucket& bucket(Place place) { return buckets_[place.level][place.digit]; }
  unsigned lowest_level() const { return static_cast<unsigned>(std::countr_zero(levels_)); }
  Place first_place() const;
  uint64_t start_of(Place place) const;
  void file(uint64_t time, uint64_t ticket) {
    const auto highest = static_cast<unsigned>(63 - std::countl_zero((time ^ base_) | 1));
    const unsigned level = highest / kDigitBits;
    const Place place{level, static_cast<unsigned>(time >> (level * kDigitBits)) % kDigits};
    Bucket& target = bucket(place);
    if (reinterpret_cast<uintptr_t>(target.cursor) % sizeof(Chunk) == 0) add_chunk(target, place);
    *target.cursor++ = {time, ticket};
    ++target.count;
  }
  void add_chunk(Bucket& bucket, Place place);
  Bucket take(Place place);
  template <class Use>
  void consume(const Bucket& bucket, const Use& use);
  void gather(size_t enough);
  void slide();
  void append_sorted(const Bucket& bucket);
  void append_quarters(const Bucket& bucket);
  void sort_in(size_t from, size_t size);
  void insert(uint64_t time, uint64_t ticket);
  bool make_room();
  void open_lanes(uint64_t instant);
  void push_lane(uint64_t ticket);
  void return_batch();
  bool draw_batch();
  void purge_bucket(Place place, const IsStale& is_stale);

  // Tickets due before limit_ are in the front or the lanes. All others are in buckets.
  uint64_t base_ = 0;  // buckets depend on the highest byte in which a time differs from base_
  uint64_t limit_ = 0;
  uint64_t front_base_ = 0;
  size_t head_ = 0;
  size_t end_ = 0;
  unsigned levels_ = 0;       // bit i: whether level i is in use
  unsigned front_level_ = 0;  // level of the buckets in the front
  unsigned batch_phase_ = 0;
  bool has_lanes_ = false;
  RankSort sort_;
  Chunk* free_chunks_ = nullptr;
  BlockPool<Chunk> chunks_;
  std::array<Lane, kPhases> lanes_;
  // One bit for each bucket: 1 if the bucket is in use.
  std::array<std::array<uint64_t, kDigits / 64>, kLevels> digits_{};
  std::array<std::array<Bucket, kDigits>, kLevels> buckets_{};
  alignas(64) std::array<uint64_t, kFrontMax + kLookahead> keys_{};
  alignas(64) std::array<uint64_t, kFrontMax + kLookahead> tickets_{};
  alignas(64) std::array<uint64_t, 4 * kSortMax> unsorted_keys_;
  alignas(64) std::array<uint64_t, 4 * kSortMax> unsorted_tickets_;
};

}  // namespace orrery

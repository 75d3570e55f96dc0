#include "sim/engine/radix_wheel.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr size_t kUndividedMax = 24;  // larger buckets are sorted by quarters

}  // namespace

RadixWheel::RadixWheel() : sort_{best_rank_sort()} {}

RadixWheel::Chunk* RadixWheel::last_chunk(const Bucket& bucket) {
  const auto last_entry = reinterpret_cast<uintptr_t>(bucket.cursor) - 1;
  return reinterpret_cast<Chunk*>(last_entry & ~(sizeof(Chunk) - 1));
}

// Calls visit(chunk, number of its entries) for each chunk of the bucket, in order. The call may
// free the chunk.
template <class Visit>
void RadixWheel::visit(const Bucket& bucket, const Visit& visit) {
  if (bucket.count == 0) return;
  Chunk* chunk = last_chunk(bucket)->next;
  for (size_t left = bucket.count; left > 0;) {
    Chunk* const next = chunk->next;
    next->prefetch();
    const size_t present = std::min(left, Chunk::kEntries);
    visit(*chunk, present);
    left -= present;
    chunk = next;
  }
}

template <class Use>
void RadixWheel::consume(const Bucket& bucket, const Use& use) {
  visit(bucket, [&](Chunk& chunk, size_t present) {
    for (size_t i = 0; i < present; ++i) use(chunk.entries[i]);
    chunk.next = free_chunks_;
    free_chunks_ = &chunk;
  });
}

void RadixWheel::add_chunk(Bucket& bucket, Place place) {
  Chunk* chunk = free_chunks_;
  if (chunk != nullptr) {
    free_chunks_ = chunk->next;
  } else {
    chunk = new (chunks_.at(chunks_.extend())) Chunk;
  }
  if (bucket.count == 0) {
    chunk->next = chunk;
    levels_ |= 1u << place.level;
    digits_[place.level][place.digit / 64] |= uint64_t{1} << (place.digit % 64);
  } else {
    Chunk* const last = last_chunk(bucket);
    chunk->next = last->next;
    last->next = chunk;
  }
  bucket.cursor = chunk->entries;
}

RadixWheel::Place RadixWheel::first_place() const {
  const unsigned level = lowest_level();
  unsigned word = 0;
  while (digits_[level][word] == 0) ++word;
  return {level, word * 64 + static_cast<unsigned>(std::countr_zero(digits_[level][word]))};
}

uint64_t RadixWheel::start_of(Place place) const {
  const unsigned shift = place.level * kDigitBits;
  const unsigned above = shift + kDigitBits;
  const uint64_t prefix = above >= 64 ? 0 : base_ >> above << above;
  return prefix | uint64_t{place.digit} << shift;
}

RadixWheel::Bucket RadixWheel::take(Place place) {
  auto& digits = digits_[place.level];
  digits[place.digit / 64] &= ~(uint64_t{1} << (place.digit % 64));
  if ((digits[0] | digits[1] | digits[2] | digits[3]) == 0) levels_ &= ~(1u << place.level);
  base_ = start_of(place);
  return std::exchange(bucket(place), Bucket{});
}

bool RadixWheel::refill(uint64_t end) {
  if (has_lanes_) {
    if (draw_batch()) return true;
    has_lanes_ = false;
  }
  while (levels_ != 0) {
    const Place place = first_place();
    const uint64_t start = start_of(place);
    if (start > end) return false;
    const Bucket first = take(place);
    front_base_ = start;
    head_ = end_ = 0;
    if (first.count <= kSortMax) {
      front_level_ = place.level;
      append_sorted(first);
      gather(kGather);
      return true;
    }
    if (place.level == 0) {
      open_lanes(start);
      consume(first, [this](const Entry& entry) { push_lane(entry.ticket); });
      return draw_batch();
    }
    limit_ = start;
    consume(first, [this](const Entry& entry) { file(entry.time, entry.ticket); });
  }
  return false;
}

// Appends further buckets of the front's level. No bucket of a higher level is appended, so that
// make_room() can return the front to the wheel.
void RadixWheel::top_up() {
  if (has_lanes_ || levels_ == 0 || lowest_level() != front_level_) return;
  if (head_ > kFrontMax / 4) slide();  // so that further buckets fit
  gather(kLookahead + kGather);
}

// Appends small buckets until the front has `enough` tickets.
void RadixWheel::gather(size_t enough) {
  // The front gets only one bucket of the top level: the times of two such buckets may differ by
  // more than a key can hold.
  while (ready() < enough && front_level_ + 1 < kLevels && (levels_ >> front_level_ & 1) != 0) {
    const Place next = first_place();
    if (bucket(next).count > kSortMax) break;
    append_sorted(take(next));
  }
  limit_ = base_ + (uint64_t{1} << (front_level_ * kDigitBits));
}

void RadixWheel::append_sorted(const Bucket& bucket) {
  if (bucket.count > kUndividedMax) return append_quarters(bucket);
  size_t size = 0;
  consume(bucket, [&](const Entry& entry) {
    unsorted_keys_[size] = key_of(entry.time, entry.ticket);
    unsorted_tickets_[size++] = entry.ticket;
  });
  sort_in(0, size);
}

// Splits the bucket into four quarters by the two highest bits in which its keys may differ, and
// sorts each quarter. The sort compares each key with every other key, so sorting four equal
// quarters costs a quarter as much as sorting the whole.
void RadixWheel::append_quarters(const Bucket& bucket) {
  const unsigned shift = front_level_ * kDigitBits + kPhaseBits - 2;
  std::array<size_t, 4> sizes{};
  consume(bucket, [&](const Entry& entry) {
    const uint64_t key = key_of(entry.time, entry.ticket);
    const size_t quarter = key >> shift & 3;
    const size_t position = quarter * kSortMax + sizes[quarter]++;
    unsorted_keys_[position] = key;
    unsorted_tickets_[position] = entry.ticket;
  });
  for (size_t i = 0; i < sizes.size(); ++i) sort_in(i * kSortMax, sizes[i]);
}

void RadixWheel::sort_in(size_t from, size_t size) {
  sort_({unsorted_keys_.data() + from, unsorted_tickets_.data() + from, size}, keys_.data() + end_,
        tickets_.data() + end_);
  end_ += size;
}

// Inserts the ticket into the sorted front. If there is space before the head, shifts either the
// earlier or the later tickets, whichever are fewer. Without this space, shifts the later tickets.
void RadixWheel::insert(uint64_t time, uint64_t ticket) {
  if (has_lanes_) return push_lane(ticket);
  if (head_ == end_) head_ = end_ = 0;
  if (end_ == kFrontMax && !make_room()) {
    if (has_lanes_) return push_lane(ticket);
    return file(time, ticket);
  }
  const uint64_t key = key_of(time, ticket);
  if (head_ > 0 && key < keys_[(head_ + end_) / 2]) {
    size_t hole = --head_;
    for (; keys_[hole + 1] <= key; ++hole) {
      keys_[hole] = keys_[hole + 1];
      tickets_[hole] = tickets_[hole + 1];
    }
    keys_[hole] = key;
    tickets_[hole] = ticket;
    return;
  }
  size_t hole = end_++;
  for (; hole > head_ && keys_[hole - 1] > key; --hole) {
    keys_[hole] = keys_[hole - 1];
    tickets_[hole] = tickets_[hole - 1];
  }
  keys_[hole] = key;
  tickets_[hole] = ticket;
}

void RadixWheel::slide() {
  std::copy(keys_.data() + head_, keys_.data() + end_, keys_.data());
  std::copy(tickets_.data() + head_, tickets_.data() + end_, tickets_.data());
  end_ -= head_;
  head_ = 0;
}

// Called when the front has no space behind its last ticket. Returns true if there is space now.
// Otherwise the front is empty: its tickets were moved to the lanes if all have the same time, else
// to buckets.
bool RadixWheel::make_room() {
  const size_t size = end_ - head_;
  if (size <= kFrontMax / 2) {
    slide();
    return true;
  }
  const size_t first = head_;
  const size_t last = end_;
  head_ = end_ = 0;
  if (limit_ - front_base_ == 1) {
    open_lanes(front_base_);
    for (size_t i = first; i < last; ++i) push_lane(tickets_[i]);
    return false;
  }
  base_ = limit_ = front_base_;
  for (size_t i = first; i < last; ++i) {
    file(front_base_ + (keys_[i] >> kPhaseBits), tickets_[i]);
  }
  return false;
}

void RadixWheel::open_lanes(uint64_t instant) {
  has_lanes_ = true;
  batch_phase_ = kPhases;
  front_base_ = instant;
  limit_ = instant + 1;
  head_ = end_ = 0;
  for (Lane& lane : lanes_) {
    lane.tickets.clear();
    lane.head = 0;
  }
}

void RadixWheel::push_lane(uint64_t ticket) {
  const auto phase = static_cast<unsigned>(ticket >> kPhaseShift);
  lanes_[phase].tickets.push_back(ticket);
  if (phase < batch_phase_) return_batch();
}

// Returns the undelivered tickets of the batch to the lane from which draw_batch() copied them. The
// lane still stores these tickets, so only the lane's head moves back.
void RadixWheel::return_batch() {
  if (batch_phase_ < kPhases) lanes_[batch_phase_].head -= end_ - head_;
  head_ = end_ = 0;
  batch_phase_ = kPhases;
}

bool RadixWheel::draw_batch() {
  for (unsigned phase = 0; phase < kPhases; ++phase) {
    Lane& lane = lanes_[phase];
    const size_t size = std::min(kBatch, lane.tickets.size() - lane.head);
    if (size == 0) continue;
    for (size_t i = 0; i < size; ++i) {
      keys_[i] = phase;
      tickets_[i] = lane.tickets[lane.head + i];
    }
    lane.head += size;
    head_ = 0;
    end_ = size;
    batch_phase_ = phase;
    return true;
  }
  return false;
}

uint64_t RadixWheel::first_time(const IsStale& is_stale) const {
  for (size_t i = head_; i < end_; ++i) {
    if (!is_stale(tickets_[i])) return front_base_ + (keys_[i] >> kPhaseBits);
  }
  if (has_lanes_) {
    for (const Lane& lane : lanes_) {
      for (size_t i = lane.head; i < lane.tickets.size(); ++i) {
        if (!is_stale(lane.tickets[i])) return front_base_;
      }
    }
  }
  for (unsigned level = 0; level < kLevels; ++level) {
    for (const Bucket& each : buckets_[level]) {
      uint64_t first = UINT64_MAX;
      visit(each, [&](const Chunk& chunk, size_t present) {
        for (size_t i = 0; i < present; ++i) {
          const Entry& entry = chunk.entries[i];
          if (entry.time < first && !is_stale(entry.ticket)) first = entry.time;
        }
      });
      if (first != UINT64_MAX) return first;
    }
  }
  return UINT64_MAX;
}

void RadixWheel::purge_bucket(Place place, const IsStale& is_stale) {
  Bucket& target = bucket(place);
  const auto word = place.digit / 64;
  if ((digits_[place.level][word] >> (place.digit % 64) & 1) == 0) return;
  const uint64_t former_base = base_;
  const Bucket full = take(place);
  base_ = former_base;
  consume(full, [&](const Entry& entry) {
    if (is_stale(entry.ticket)) return;
    const auto cursor = reinterpret_cast<uintptr_t>(target.cursor);
    if (cursor % sizeof(Chunk) == 0) add_chunk(target, place);
    *target.cursor++ = entry;
    ++target.count;
  });
}

void RadixWheel::purge(const IsStale& is_stale) {
  if (has_lanes_) {
    return_batch();
    for (Lane& lane : lanes_) {
      auto& tickets = lane.tickets;
      tickets.erase(tickets.begin(), tickets.begin() + static_cast<ptrdiff_t>(lane.head));
      lane.head = 0;
      std::erase_if(tickets, is_stale);
    }
  }
  size_t kept = head_;
  for (size_t i = head_; i < end_; ++i) {
    if (is_stale(tickets_[i])) continue;
    keys_[kept] = keys_[i];
    tickets_[kept++] = tickets_[i];
  }
  end_ = kept;
  for (unsigned level = 0; level < kLevels; ++level) {
    for (unsigned digit = 0; digit < kDigits; ++digit) purge_bucket({level, digit}, is_stale);
  }
}

void RadixWheel::reset(uint64_t time) {
  while (levels_ != 0) consume(take(first_place()), [](const Entry&) {});
  for (Lane& lane : lanes_) {
    lane.tickets.clear();
    lane.head = 0;
  }
  has_lanes_ = false;
  head_ = end_ = 0;
  base_ = limit_ = front_base_ = time;
}

}  // namespace orrery

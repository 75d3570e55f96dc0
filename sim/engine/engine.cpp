#include "sim/engine/engine.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "sim/core/int128.hpp"

namespace orrery {
namespace {

constexpr size_t kRungsMax = 4096;

// Folds the 128-bit product of two 64-bit numbers into 64 bits. Every bit of the event affects
// every bit of the digest.
constexpr uint64_t mix(uint64_t digest, uint64_t time, uint64_t what) {
  const uint128_t product =
      static_cast<uint128_t>(digest ^ time ^ 0x9E3779B97F4A7C15u) * (what ^ 0xD6E8FEB86659FD93u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// While an instance exists, failed checks report the time, event and seed in `context`.
class ContextGuard {
 public:
  explicit ContextGuard(const CheckContext& context) : former_{exchange_check_context(&context)} {}
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;
  ~ContextGuard() { exchange_check_context(former_); }

 private:
  const CheckContext* former_;
};

}  // namespace

Engine::Engine(Limits limits)
    : limits_{limits}, ladder_stride_{limits.ladder_every}, queue_{limits.pending_max} {
  ORRERY_CHECK(limits.ladder_every > 0, "rungs are at least one event apart");
  context_.seed = limits.seed;
  context_.label_length = std::numeric_limits<int>::max();  // labels end with a null character
  if (limits.audit_every > 0) audit_due_ = limits.audit_every;
  plan_chores();
}

inline void Engine::execute(const EventQueue::Due& due) {
  if (due.when.ns != context_.now_ns) instant_start_ = events_run_;
  context_.now_ns = due.when.ns;
  context_.label = due.label();
  ++events_run_;
  const uint64_t what = uint64_t{due.label_hash()} << 8 | static_cast<uint8_t>(due.phase());
  digest_ = mix(digest_, static_cast<uint64_t>(due.when.ns), what);
  if (profile_ == nullptr) [[likely]] {
    queue_.run_and_free(due);
  } else {
    run_profiled(due);
  }
  if (events_run_ >= chores_due_) [[unlikely]]
    do_chores();
}

void Engine::run_profiled(const EventQueue::Due& due) {
  using Clock = std::chrono::steady_clock;
  if (!profile_->count(due.label())) return queue_.run_and_free(due);
  const Clock::time_point start = Clock::now();
  queue_.run_and_free(due);
  profile_->add_sample(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

std::vector<ProfileRow> Engine::profile() const {
  return profile_ == nullptr ? std::vector<ProfileRow>{} : profile_->rows();
}

void Engine::set_poll(uint64_t every_events, std::function<void()> poll) {
  poll_ = std::move(poll);
  poll_every_ = every_events;
  poll_due_ = poll_ && every_events > 0 ? events_run_ + every_events : UINT64_MAX;
  plan_chores();
}

// Called between events, when one of the chores is due.
void Engine::do_chores() {
  ORRERY_CHECK(events_run_ - instant_start_ <= limits_.events_per_instant_max,
               "time stands still: too many events at one instant (a loop without delay?)");
  if (events_run_ % ladder_stride_ == 0) add_rung();
  if (events_run_ >= audit_due_) {
    audit_due_ = events_run_ + limits_.audit_every;
    for (size_t i = 0; i < audits_.size(); ++i) audits_[i]();
  }
  if (events_run_ >= poll_due_) {
    poll_due_ = events_run_ + poll_every_;
    poll_();
  }
  plan_chores();
}

void Engine::plan_chores() {
  const uint64_t rung_due = (events_run_ / ladder_stride_ + 1) * ladder_stride_;
  const uint64_t instant_due = instant_start_ + limits_.events_per_instant_max + 1;
  chores_due_ = std::min({rung_due, instant_due, audit_due_, poll_due_});
}

void Engine::add_rung() {
  ladder_.push_back({events_run_, now(), digest_});
  if (ladder_.size() < kRungsMax) return;
  ladder_stride_ *= 2;
  std::erase_if(ladder_, [this](const Rung& rung) { return rung.event % ladder_stride_ != 0; });
}

bool Engine::step() {
  EventQueue::Due due;
  if (!queue_.pop(Time::max(), due)) return false;
  const ContextGuard guard{context_};
  execute(due);
  return true;
}

void Engine::advance_to(Time when) {
  ORRERY_CHECK(when >= now() && queue_.next_time() >= when, "no event is passed over");
  context_.now_ns = when.ns;
}

Engine::Outcome Engine::run(Time end) {
  const ContextGuard guard{context_};
  EventQueue::Due due;
  while (!stop_requested_.load(std::memory_order_relaxed)) {
    if (!queue_.pop(end, due)) {
      if (queue_.size() == 0) return Outcome::Drained;
      context_.now_ns = std::max(context_.now_ns, end.ns);
      return Outcome::ReachedEnd;
    }
    execute(due);
  }
  stop_requested_.store(false, std::memory_order_relaxed);
  return Outcome::Stopped;
}

}  // namespace orrery

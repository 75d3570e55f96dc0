// Seats and queues of a priority level against a plain version that recomputes everything each
// time.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/control_plane/flow_control/priority_and_fairness.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

class PlainLevel {
 public:
  PlainLevel(const LevelSetup& setup, Duration guess)
      : setup_{setup},
        guess_{guess.seconds()},
        sharding_{setup.queues, setup.hand},
        queues_(static_cast<size_t>(setup.queues)) {}

  bool arrive(const PriorityAndFairness::Arrival& arrival, Time now) {
    pass(now);
    Queue& queue = queues_[choose(arrival.flow)];
    const auto waiting = static_cast<int32_t>(queue.waiting.size());
    if (waiting >= setup_.queue_length && in_use() >= setup_.seats) return false;
    if (!is_busy(queue)) queue.start = virtual_time_;
    queue.waiting.push_back({arrival.request, arrival.width, now});
    dispatch(now);
    return true;
  }
  void finish(uint32_t request, Time now) {
    pass(now);
    for (Queue& queue : queues_) {
      const auto at = std::ranges::find(queue.executing, request, &Request::id);
      if (at == queue.executing.end()) continue;
      queue.start -= (guess_ - (now - at->since).seconds()) * at->width;
      queue.executing.erase(at);
    }
    dispatch(now);
  }
  std::optional<uint32_t> take_expired(Time now, Duration limit) {
    pass(now);
    Queue* oldest = nullptr;
    for (Queue& queue : queues_) {
      if (queue.waiting.empty()) continue;
      if (!oldest || queue.waiting.front().since < oldest->waiting.front().since) oldest = &queue;
    }
    if (!oldest || oldest->waiting.front().since + limit > now) return {};
    const uint32_t request = oldest->waiting.front().id;
    abandon(request, now);
    return request;
  }
  void abandon(uint32_t request, Time now) {
    pass(now);
    for (Queue& queue : queues_) {
      std::erase_if(queue.waiting, [&](const Request& r) { return r.id == request; });
    }
    dispatch(now);
  }
  std::vector<uint32_t> started;

 private:
  struct Request {
    uint32_t id;
    int32_t width;
    Time since;
  };
  struct Queue {
    std::deque<Request> waiting;
    std::vector<Request> executing;
    double start = 0;
  };
  static bool is_busy(const Queue& queue) {
    return !queue.waiting.empty() || !queue.executing.empty();
  }
  static int32_t seats(const auto& requests) {
    int32_t sum = 0;
    for (const Request& request : requests) sum += request.width;
    return sum;
  }
  int32_t in_use() const {
    int32_t sum = 0;
    for (const Queue& queue : queues_) sum += seats(queue.executing);
    return sum;
  }
  void pass(Time now) {
    const double passed = (now - now_).seconds();
    now_ = now;
    int32_t busy = 0, wanted = 0;
    for (const Queue& queue : queues_) {
      busy += is_busy(queue) ? 1 : 0;
      wanted += seats(queue.waiting) + seats(queue.executing);
    }
    if (passed > 0 && busy == 0) virtual_time_ = 0;
    if (busy > 0) virtual_time_ += passed * std::min(wanted, setup_.seats) / busy;
  }
  size_t choose(uint64_t flow) {
    if (queues_.size() == 1) return 0;
    const ShuffleSharding::Hand hand = sharding_.deal(flow_hash(flow));
    const auto size = static_cast<uint32_t>(setup_.hand);
    std::optional<size_t> best;
    const auto load = [&](size_t q) {
      return std::pair{seats(queues_[q].waiting), seats(queues_[q].executing)};
    };
    for (uint32_t i = 0; i < size; ++i) {
      const size_t queue = hand[(deals_ + i) % size];
      if (!best || load(queue) < load(*best)) best = queue;
    }
    ++deals_;
    return *best;
  }
  void dispatch(Time now) {
    for (;;) {
      Queue* next = nullptr;
      double least = 0;
      for (Queue& queue : queues_) {
        if (queue.waiting.empty()) continue;
        const double finish = queue.start + guess_ * queue.waiting.front().width;
        if (!next || finish < least) {
          next = &queue;
          least = finish;
        }
      }
      if (!next) return;
      Request request = next->waiting.front();
      if (in_use() > 0 && in_use() + request.width > setup_.seats) return;
      next->waiting.pop_front();
      next->start += guess_ * request.width;
      request.since = now;
      next->executing.push_back(request);
      started.push_back(request.id);
    }
  }

  LevelSetup setup_;
  double guess_;
  ShuffleSharding sharding_;
  std::vector<Queue> queues_;
  uint32_t deals_ = 0;
  double virtual_time_ = 0;
  Time now_;
};

std::vector<uint32_t> take_started(PriorityAndFairness& flow) {
  std::vector<uint32_t> all;
  while (const auto request = flow.take_started()) all.push_back(*request);
  return all;
}

void compare(uint64_t seed) {
  Rng rng{seed};
  const auto up_to = [&](uint64_t most) { return static_cast<int32_t>(1 + rng.below(most)); };
  LevelSetup level{.seats = up_to(12), .queues = up_to(10), .queue_length = up_to(8)};
  level.hand = up_to(static_cast<uint64_t>(std::min(level.queues, 4)));
  FlowControlSetup setup{.levels = {level}, .seats = level.seats, .adjust_every = {}};
  setup.wait_limit = 1_ms * up_to(2'000);
  setup.service_guess = 1_ms * up_to(5'000);
  PriorityAndFairness ours{setup};
  PlainLevel plain{level, setup.service_guess};
  std::vector<uint32_t> executing, waiting;
  Time now;
  for (uint32_t step = 0; step < 400; ++step) {
    now = now + Duration{static_cast<int64_t>(rng.below(200'000'000))};
    const uint64_t what = rng.below(10);
    if (what < 5) {
      const PriorityAndFairness::Arrival arrival{
          .request = step, .level = 0, .flow = rng.below(5), .width = up_to(4)};
      const bool is_in = ours.arrive(arrival, now);
      ASSERT_EQ(is_in, plain.arrive(arrival, now)) << step;
      if (is_in) waiting.push_back(step);
    } else if (what < 9 && !executing.empty()) {
      const size_t at = rng.below(executing.size());
      ours.finish(executing[at], now);
      plain.finish(executing[at], now);
      executing.erase(executing.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (!waiting.empty()) {
      const uint32_t request = waiting[rng.below(waiting.size())];
      ours.abandon(request, now);
      plain.abandon(request, now);
      std::erase(waiting, request);
    }
    while (const auto expired = ours.take_expired(now)) {
      ASSERT_EQ(expired, plain.take_expired(now, setup.wait_limit)) << step;
      std::erase(waiting, *expired);
    }
    ASSERT_EQ(plain.take_expired(now, setup.wait_limit), std::nullopt);
    const std::vector<uint32_t> started = take_started(ours);
    ASSERT_EQ(started, std::exchange(plain.started, {})) << step;
    for (const uint32_t request : started) {
      std::erase(waiting, request);
      executing.push_back(request);
    }
    ours.audit();
  }
}

TEST(PriorityAndFairnessProperty, DecidesAsThePlainVersionDoes) {
  for (uint64_t seed = 1; seed <= (test::kIsSanitized ? 150 : 1'000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace orrery

#include "sim/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sim/engine/signal.hpp"
#include "sim/engine/timer.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Engine, RunsEqualTimesInScheduleOrder) {
  Engine engine;
  std::vector<int> order;
  for (int i = 0; i < 2000; ++i) {
    engine.after(10_ns, Label{"test.event"}, [&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(engine.run(), Engine::Outcome::Drained);
  ASSERT_EQ(order.size(), 2000u);
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Engine, RunsThePhasesOfAnInstantInTheirOrder) {
  Engine engine;
  std::string order;
  const auto log = [&](char c, Phase phase) {
    engine.after(
        10_ns, Label{"test.event"}, [&order, c] { order += c; }, phase);
  };
  log('a', Phase::Audit);
  log('r', Phase::Record);
  log('c', Phase::Control);
  log('s', Phase::Settle);
  log('m', Phase::Model);
  log('f', Phase::Fault);
  engine.run();
  EXPECT_EQ(order, "fmscra");
}

TEST(Engine, RunsAPhaseThatHasPassedBeforeTheRestOfTheInstant) {
  Engine engine;
  std::string order;
  engine.after(
      10_ns, Label{"test.control"},
      [&] {
        order += 'c';
        engine.after({}, Label{"test.model"}, [&] { order += 'm'; });
        engine.after(
            {}, Label{"test.control"}, [&] { order += 'C'; }, Phase::Control);
      },
      Phase::Control);
  engine.after(
      10_ns, Label{"test.control"}, [&] { order += 'd'; }, Phase::Control);
  engine.after(
      10_ns, Label{"test.record"}, [&] { order += 'r'; }, Phase::Record);
  engine.run();
  EXPECT_EQ(order, "cmdCr");
}

TEST(Engine, DestroysTheCallbackOfACancelledEventAtOnce) {
  Engine engine;
  const auto token = std::make_shared<int>(1);
  const EventId id = engine.after(5_ns, Label{"test.event"}, [token] {});
  EXPECT_EQ(token.use_count(), 2);
  EXPECT_TRUE(engine.is_pending(id));
  EXPECT_TRUE(engine.cancel(id));
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(engine.pending(), 0u);
  EXPECT_EQ(engine.run(), Engine::Outcome::Drained);
  EXPECT_EQ(engine.events_run(), 0u);
}

TEST(Engine, KeepsAStaleHandleStaleWhenItsSlotIsUsedAgain) {
  Engine engine;
  const EventId first = engine.after(5_ns, Label{"test.event"}, [] {});
  engine.cancel(first);
  const EventId second = engine.after(5_ns, Label{"test.event"}, [] {});
  EXPECT_NE(first, second);
  EXPECT_FALSE(engine.is_pending(first));
  EXPECT_FALSE(engine.cancel(first));
  EXPECT_TRUE(engine.is_pending(second));
  EXPECT_FALSE(engine.is_pending(EventId{}));
  EXPECT_FALSE(engine.cancel(EventId{}));
  engine.run();
  EXPECT_FALSE(engine.is_pending(second));
}

TEST(Engine, DestroysWhatIsPendingWhenItGoes) {
  const auto token = std::make_shared<int>(1);
  {
    Engine engine;
    for (int i = 0; i < 100; ++i) engine.after(1_s * i, Label{"test.event"}, [token] {});
    EXPECT_EQ(token.use_count(), 101);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Engine, LeavesTheClockAtTheEndItWasGiven) {
  Engine engine;
  engine.after(100_s, Label{"test.late"}, [] {});
  EXPECT_EQ(engine.run(Time{} + 10_s), Engine::Outcome::ReachedEnd);
  EXPECT_EQ(engine.now(), Time{} + 10_s);
  bool has_run = false;
  engine.after(1_ns, Label{"test.soon"}, [&] { has_run = true; });
  EXPECT_EQ(engine.next_time(), Time{} + 10_s + 1_ns);
  EXPECT_TRUE(engine.step());
  EXPECT_TRUE(has_run);
}

TEST(Engine, TakesEventsBeforeACancelledOneItAlreadySaw) {
  Engine engine;
  const EventId late = engine.after(100_s, Label{"test.late"}, [] {});
  engine.cancel(late);
  EXPECT_EQ(engine.run(), Engine::Outcome::Drained);
  EXPECT_EQ(engine.now(), Time{});
  engine.after(1_ns, Label{"test.soon"}, [] {});
  EXPECT_EQ(engine.run(), Engine::Outcome::Drained);
  EXPECT_EQ(engine.now(), Time{} + 1_ns);
}

TEST(Engine, RunsEventsAtTheEndOfTime) {
  Engine engine;
  std::string order;
  engine.at(Time::max(), Label{"test.never"}, [&] { order += 'z'; });
  engine.after(
      Duration::max(), Label{"test.never"}, [&] { order += 'y'; }, Phase::Fault);
  engine.after(1_s, Label{"test.soon"}, [&] { order += 'a'; });
  EXPECT_EQ(engine.run(), Engine::Outcome::Drained);
  EXPECT_EQ(order, "ayz");
  EXPECT_EQ(engine.now(), Time::max());
}

TEST(Engine, KeepsItsMemoryWhenATimerIsMovedAMillionTimes) {
  EventQueue queue{1000};  // made for 1,000 pending events
  EventId id;
  size_t stale_max = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    queue.cancel(id);
    id = queue.push(Time{} + 1_h + 1_us * i, Phase::Model, Label{"test.timer"}, [] {});
    stale_max = std::max(stale_max, queue.stale());
  }
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_LT(stale_max, 10'000u);
}

TEST(Engine, StopsAfterThePresentEvent) {
  Engine engine;
  int run = 0;
  for (int i = 0; i < 10; ++i) {
    engine.after(1_s * i, Label{"test.event"}, [&] {
      if (++run == 3) engine.stop();
    });
  }
  EXPECT_EQ(engine.run(), Engine::Outcome::Stopped);
  EXPECT_EQ(run, 3);
  EXPECT_EQ(engine.run(), Engine::Outcome::Drained);
  EXPECT_EQ(run, 10);
}

struct Clockwork {  // schedules itself again for ever
  Engine& engine;
  void tick() {
    engine.after(1_us, Label{"test.tick"}, [this] { tick(); });
  }
};

Engine* interrupted = nullptr;

TEST(Engine, StopsOnARequestFromASignalHandlerOrAnotherThread) {
  Engine engine;
  Clockwork clockwork{engine};
  clockwork.tick();
  interrupted = &engine;
  const auto former = std::signal(SIGUSR1, [](int) { interrupted->request_stop(); });
  engine.after(1_ms, Label{"test.signal"}, [] { std::raise(SIGUSR1); });
  EXPECT_EQ(engine.run(), Engine::Outcome::Stopped);
  EXPECT_EQ(engine.now(), Time{} + 1_ms);
  std::signal(SIGUSR1, former);
  std::thread other{[&] { engine.request_stop(); }};
  EXPECT_EQ(engine.run(), Engine::Outcome::Stopped);
  other.join();
}

TEST(Engine, KeepsALadderOfDigestsThatStaysBounded) {
  const auto climb = [](uint64_t events, uint64_t ladder_every) {
    Engine engine{{.ladder_every = ladder_every}};
    Clockwork clockwork{engine};
    clockwork.tick();
    engine.set_poll(events, [&] { engine.stop(); });
    engine.run();
    return engine.ladder();
  };
  const auto low = climb(200'000, 1u << 16);
  ASSERT_EQ(low.size(), 3u);
  EXPECT_EQ(low[0].event, 65'536u);
  EXPECT_EQ(low[0].time, Time{} + 1_us * 65'536);
  EXPECT_EQ(low[2].event, 3 * 65'536u);
  const auto high = climb(4097 * 16, 16);
  EXPECT_EQ(high.size(), 2048u);
  EXPECT_EQ(high[0].event, 32u);
  EXPECT_EQ(high[2047].event, 65'536u);
  EXPECT_EQ(high[2047].digest, low[0].digest);
}

TEST(Engine, DigestsTimePhaseAndLabelOfEveryEvent) {
  const auto digest = [](Duration delay, auto label, Phase phase) {
    Engine engine;
    engine.after(
        delay, label, [] {}, phase);
    engine.run();
    return engine.digest();
  };
  const uint64_t base = digest(1_us, Label{"a.b"}, Phase::Model);
  EXPECT_EQ(base, digest(1_us, Label{"a.b"}, Phase::Model));
  EXPECT_NE(base, digest(2_us, Label{"a.b"}, Phase::Model));
  EXPECT_NE(base, digest(1_us, Label{"a.c"}, Phase::Model));
  EXPECT_NE(base, digest(1_us, Label{"a.b"}, Phase::Fault));
  EXPECT_EQ(base, 7138153011374974337u)
      << "the digest changed: equal in every build, or old outputs do not compare";
}

TEST(Engine, LeavesTheDigestAloneWhenItIsWatched) {
  const auto digest = [](bool is_watched) {
    Engine engine{{.audit_every = is_watched ? 7u : 0u}};
    Clockwork clockwork{engine};
    clockwork.tick();
    int polls = 0;
    int audits = 0;
    if (is_watched) {
      engine.enable_profile();
      engine.set_poll(10, [&] { ++polls; });
      engine.add_audit([&] { ++audits; });
    }
    engine.run(Time{} + 1_ms);
    EXPECT_EQ(polls, is_watched ? 100 : 0);
    EXPECT_EQ(audits, is_watched ? 142 : 0);
    return engine.digest();
  };
  EXPECT_EQ(digest(false), digest(true));
}

TEST(Engine, ProfilesEventsByLabel) {
  Engine engine;
  EXPECT_TRUE(engine.profile().empty());
  engine.enable_profile();
  for (int i = 0; i < 200; ++i) engine.after(1_us * i, Label{"test.often"}, [] {});
  for (int i = 0; i < 100; ++i) {
    engine.after(1_us * i, Label{"test.busy"},
                 [] { std::this_thread::sleep_for(std::chrono::microseconds{10}); });
  }
  engine.run();
  const auto rows = engine.profile();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].label, "test.busy");
  EXPECT_EQ(rows[0].events, 100u);
  EXPECT_GE(rows[0].host_ns, 100 * 10'000);
  EXPECT_EQ(rows[1].label, "test.often");
  EXPECT_EQ(rows[1].events, 200u);
}

struct Loop {
  Engine& engine;
  void turn() {
    engine.after({}, Label{"test.loop"}, [this] { turn(); });
  }
};

TEST(Engine, NamesTimeAndLabelOfALoopWithoutDelay) {
  Engine engine{{.seed = 42}};
  Loop loop{engine};
  engine.after(3_s, Label{"test.start"}, [&] { loop.turn(); });
  EXPECT_THAT(
      [&] { engine.run(); },
      ThrowsMessage<CheckFailed>(AllOf(HasSubstr("time stands still"),
                                       HasSubstr("3.000000000 s in event 'test.loop', seed 42"))));
}

TEST(Engine, AllowsExactlyTheStatedEventsInOneInstant) {
  const auto crowd = [](int events) {
    Engine engine{{.events_per_instant_max = 1000}};
    for (int i = 0; i < 500; ++i) engine.after(1_s, Label{"test.early"}, [] {});
    for (int i = 0; i < events; ++i) engine.after(2_s, Label{"test.crowd"}, [] {});
    engine.run();
  };
  crowd(1000);
  EXPECT_THAT([&] { crowd(1001); }, ThrowsMessage<CheckFailed>(AllOf(HasSubstr("time stands still"),
                                                                     HasSubstr("'test.crowd'"))));
}

TEST(Engine, RefusesThePastAndEmptyCallbacksAndTooManyEvents) {
  Engine engine{{.pending_max = 10}};
  engine.after(1_s, Label{"test.event"}, [&] { engine.at(Time{}, Label{"test.past"}, [] {}); });
  EXPECT_THAT([&] { engine.run(); },
              ThrowsMessage<CheckFailed>(
                  AllOf(HasSubstr("an event lies in the future"), HasSubstr("'test.event'"))));
  EXPECT_THAT([&] { engine.after(1_s, Label{"test.event"}, Callback{}); },
              ThrowsMessage<CheckFailed>(HasSubstr("something to call")));
  const auto crowd = [&] {
    for (int i = 0; i < 11; ++i) engine.after(1_s, Label{"test.event"}, [] {});
  };
  EXPECT_THAT(crowd, ThrowsMessage<CheckFailed>(HasSubstr("too many pending events")));
}

TEST(Signal, CallsAMemberFunctionOfAnObserver) {
  struct Sum {
    void add(int x) { sum += x; }
    int sum = 0;
  };
  Signal<int> signal;
  Sum sum;
  signal.connect(sum, &Sum::add);
  signal.emit(2);
  signal.emit(3);
  EXPECT_EQ(sum.sum, 5);
}

TEST(Signal, CallsItsObserversInConnectOrder) {
  Signal<int> signal;
  std::string log;
  EXPECT_FALSE(signal.has_observers());
  signal.connect([&](int value) {
    log += 'a' + static_cast<char>(value);
    if (value == 0) signal.connect([&](int) { log += 'z'; });
  });
  signal.connect([&](int) { log += '.'; });
  signal.emit(0);
  signal.emit(1);
  EXPECT_EQ(log, "a.b.z");
}

TEST(Timer, FiresOnceAtTheLastDeadlineAndDiesWithItsOwner) {
  Engine engine;
  int fired = 0;
  auto timer = std::make_unique<Timer>(engine, Label{"test.timer"}, [&] { ++fired; });
  timer->arm(1_s);
  timer->arm(5_s);
  engine.run(Time{} + 2_s);
  EXPECT_EQ(fired, 0);
  EXPECT_TRUE(timer->is_armed());
  engine.run();
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(engine.now(), Time{} + 5_s);
  timer->arm(1_s);
  timer.reset();
  EXPECT_EQ(engine.pending(), 0u);
}

}  // namespace
}  // namespace orrery

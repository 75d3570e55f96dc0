#include "sim/engine/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/semaphore.hpp"
#include "sim/engine/trigger.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Process count_seconds(int& seconds) {
  for (;;) {
    co_await sleep_for(1_s);
    ++seconds;
  }
}

Process visit_in_turn(const Engine& engine, std::vector<int>& cells, std::vector<int64_t>& log) {
  for (int& cell : cells) {
    co_await sleep_for(1_s, &cell);
    ++cell;
    log.push_back(engine.now().ns);
  }
}

Process hold(Semaphore& semaphore, Duration span, std::string& log, char name) {
  auto lease = co_await semaphore.acquire();
  log += name;
  co_await sleep_for(span);
}

Process keep(std::shared_ptr<int> token) {
  co_await sleep_for(1_h);
  *token = 2;
}

TEST(Process, SleepsInSimulatedTime) {
  Engine engine;
  int seconds = 0;
  Process process = count_seconds(seconds);
  process.start(engine, Label{"test.clock"});
  EXPECT_EQ(seconds, 0);
  engine.run(Time{} + 10_s);
  EXPECT_EQ(seconds, 10);
  EXPECT_FALSE(process.done());
}

TEST(Process, WakesAsFromAnySleepWhenItNamedWhatItWillTouch) {
  Engine engine;
  std::vector<int> cells(3);
  std::vector<int64_t> log;
  Process process = visit_in_turn(engine, cells, log);
  process.start(engine, Label{"test.visit"});
  engine.run();
  EXPECT_TRUE(process.done());
  EXPECT_EQ(cells, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(log, (std::vector<int64_t>{1'000'000'000, 2'000'000'000, 3'000'000'000}));
  Engine plain;
  int seconds = 0;
  Process clock = count_seconds(seconds);
  clock.start(plain, Label{"test.visit"});
  plain.run(Time{} + 3_s);
  EXPECT_EQ(engine.digest(), plain.digest());
}

TEST(Process, DiesWithItsOwnerAndDestroysItsVariables) {
  Engine engine;
  const auto token = std::make_shared<int>(1);
  {
    Process process = keep(token);
    process.start(engine, Label{"test.keep"});
    engine.run(Time{} + 1_min);
    EXPECT_EQ(token.use_count(), 2);
    EXPECT_EQ(engine.pending(), 1u);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(engine.pending(), 0u);
  EXPECT_EQ(*token, 1);
}

TEST(Process, CanBeKilledBeforeItStartsAndAfterItEnded) {
  Engine engine;
  const auto token = std::make_shared<int>(1);
  { Process never_started = keep(token); }
  {
    Process not_yet_run = keep(token);
    not_yet_run.start(engine, Label{"test.keep"});
  }
  EXPECT_EQ(token.use_count(), 1);
  Process process = keep(token);
  process.start(engine, Label{"test.keep"});
  engine.run();
  EXPECT_TRUE(process.done());
  EXPECT_EQ(*token, 2);
  process.kill();
  process.kill();
  EXPECT_TRUE(process.done());
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Process, MovesToAnotherOwnerWhileItSleeps) {
  Engine engine;
  int seconds = 0;
  std::vector<Process> owners;
  for (int i = 0; i < 10; ++i) {
    owners.push_back(count_seconds(seconds));
    owners.back().start(engine, Label{"test.clock"});
  }
  engine.run(Time{} + 1_s);
  EXPECT_EQ(seconds, 10);
  owners[3] = std::move(owners[4]);
  engine.run(Time{} + 2_s);
  EXPECT_EQ(seconds, 19);
}

TEST(Semaphore, IsGrantedInTheOrderOfArrival) {
  Engine engine;
  Semaphore semaphore{2};
  std::string log;
  std::vector<Process> processes;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    processes.push_back(hold(semaphore, 1_s, log, name));
    processes.back().start(engine, Label{"test.hold"});
  }
  engine.run(Time{} + 500_ms);
  EXPECT_EQ(log, "ab");
  EXPECT_EQ(semaphore.waiting(), 2u);
  engine.run();
  EXPECT_EQ(log, "abcd");
  EXPECT_EQ(engine.now(), Time{} + 2_s);
  EXPECT_EQ(semaphore.available(), 2);
}

TEST(Semaphore, GetsBackTheLeaseOfAProcessKilledWhileItHolds) {
  Engine engine;
  Semaphore semaphore{1};
  std::string log;
  Process holder = hold(semaphore, 1_h, log, 'a');
  Process waiter = hold(semaphore, 1_s, log, 'b');
  holder.start(engine, Label{"test.hold"});
  waiter.start(engine, Label{"test.hold"});
  engine.run(Time{} + 1_s);
  EXPECT_EQ(log, "a");
  holder.kill();
  engine.run();
  EXPECT_EQ(log, "ab");
  EXPECT_EQ(semaphore.available(), 1);
}

TEST(Semaphore, ForgetsAProcessKilledWhileItWaits) {
  Engine engine;
  Semaphore semaphore{1};
  std::string log;
  Process holder = hold(semaphore, 10_s, log, 'a');
  Process waiter = hold(semaphore, 1_s, log, 'b');
  Process last = hold(semaphore, 1_s, log, 'c');
  for (Process* const process : {&holder, &waiter, &last}) {
    process->start(engine, Label{"test.hold"});
  }
  engine.run(Time{} + 1_s);
  waiter.kill();
  EXPECT_EQ(semaphore.waiting(), 1u);
  engine.run();
  EXPECT_EQ(log, "ac");
  EXPECT_EQ(semaphore.available(), 1);
}

TEST(Semaphore, GetsBackAUnitGrantedToAProcessKilledBeforeItResumed) {
  Engine engine;
  Semaphore semaphore{1};
  std::string log;
  Process holder = hold(semaphore, 1_h, log, 'a');
  Process waiter = hold(semaphore, 1_s, log, 'b');
  Process last = hold(semaphore, 1_s, log, 'c');
  for (Process* const process : {&holder, &waiter, &last}) {
    process->start(engine, Label{"test.hold"});
  }
  engine.run(Time{} + 1_s);
  holder.kill();  // the semaphore's unit now belongs to `waiter`, which is not resumed yet
  EXPECT_EQ(semaphore.waiting(), 1u);
  waiter.kill();
  engine.run();
  EXPECT_EQ(log, "ac");
  EXPECT_EQ(semaphore.available(), 1);
}

Process await(Trigger& trigger, Engine& engine, std::vector<Time>& woken) {
  co_await trigger.wait();
  woken.push_back(engine.now());
}

TEST(Trigger, WakesAllThatWaitAndLetsLateComersPass) {
  Engine engine;
  Trigger trigger;
  std::vector<Time> woken;
  std::vector<Process> processes;
  const auto start = [&] {
    processes.push_back(await(trigger, engine, woken));
    processes.back().start(engine, Label{"test.await"});
  };
  for (int i = 0; i < 3; ++i) start();
  engine.run(Time{} + 1_s);
  EXPECT_EQ(trigger.waiting(), 3u);
  processes.pop_back();  // kills the last process while it waits
  engine.at(Time{} + 2_s, Label{"test.fire"}, [&] { trigger.fire(); });
  engine.run();
  EXPECT_EQ(woken, (std::vector<Time>{Time{} + 2_s, Time{} + 2_s}));
  start();
  engine.run();
  EXPECT_EQ(woken.size(), 3u);
  trigger.reset();
  start();
  engine.run();
  EXPECT_EQ(trigger.waiting(), 1u);
  trigger.pulse();
  processes.pop_back();  // kills the last process after the pulse, before it is resumed
  EXPECT_FALSE(trigger.is_fired());
  engine.run();
  EXPECT_EQ(woken.size(), 3u);
}

TEST(Process, MustNotKillItself) {
  struct Suicide {
    Process process;
    static Process script(Process& self) {
      co_await sleep_for(1_s);
      self.kill();
    }
  };
  Engine engine;
  Suicide suicide;
  suicide.process = Suicide::script(suicide.process);
  suicide.process.start(engine, Label{"test.suicide"});
  EXPECT_THAT([&] { engine.run(); },
              ThrowsMessage<CheckFailed>(
                  AllOf(HasSubstr("a process does not kill itself"),
                        HasSubstr("simulated time 1.000000000 s in event 'test.suicide'"))));
}

}  // namespace
}  // namespace orrery

// An exception in an event leaves Engine::run(). The engine, processes, semaphores and triggers can
// then be destroyed without leaks. CheckFailed names the file and the event.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/process.hpp"
#include "sim/engine/semaphore.hpp"
#include "sim/engine/signal.hpp"
#include "sim/engine/timer.hpp"
#include "sim/engine/trigger.hpp"

namespace orrery {
namespace {

using Held = std::shared_ptr<int>;  // its use count tells how many objects are alive
using Throws = std::function<void()>;

void fail_check() { ORRERY_CHECK(false, "this fails"); }
void run_out_of_memory() { throw std::bad_alloc{}; }
void throw_error() { throw std::runtime_error{"boom"}; }

// Each test throws from a different kind of code, and runs once for every kind of exception.
class EngineFailure : public ::testing::TestWithParam<Throws> {
 protected:
  void expect_to_leave_run() {
    EXPECT_ANY_THROW(engine_.run());
    EXPECT_EQ(engine_.now(), Time{} + 1_s);
  }
  // Schedules a second event, whose callback holds the token.
  void leave_one_pending() {
    engine_.after(2_s, Label{"test.later"}, [token = token_, this] { ran_ += *token; });
  }

  Held token_ = std::make_shared<int>(1);
  int ran_ = 0;
  Engine engine_{{.audit_every = 1}};
};
INSTANTIATE_TEST_SUITE_P(Of, EngineFailure,
                         ::testing::Values(Throws{fail_check}, Throws{run_out_of_memory},
                                           Throws{throw_error}));

TEST_P(EngineFailure, OfACallbackLeavesItToTheEngineToDestroy) {
  {
    Engine engine;
    engine.after(1_s, Label{"test.fails"}, [token = token_, fault = &GetParam()] { (*fault)(); });
    engine.after(2_s, Label{"test.later"}, [token = token_] {});
    EXPECT_ANY_THROW(engine.run());
    EXPECT_EQ(engine.pending(), 1U);
  }
  EXPECT_EQ(token_.use_count(), 1);
}

TEST_P(EngineFailure, OfTheLastEventLeavesTheEngineEmpty) {
  {
    Engine engine;
    engine.after(1_s, Label{"test.fails"}, [token = token_, fault = &GetParam()] { (*fault)(); });
    EXPECT_ANY_THROW(engine.run());
    EXPECT_EQ(engine.pending(), 0U);
  }
  EXPECT_EQ(token_.use_count(), 1);
}

TEST_P(EngineFailure, OfAnEventDoesNotKeepLaterOnesFromRunning) {
  engine_.after(1_s, Label{"test.fails"}, [fault = &GetParam()] { (*fault)(); });
  leave_one_pending();
  expect_to_leave_run();
  EXPECT_EQ(engine_.run(), Engine::Outcome::Drained);
  EXPECT_EQ(ran_, 1);
  EXPECT_EQ(engine_.now(), Time{} + 2_s);
}

Process wait_and_fail(Held token, Throws fault) {
  co_await sleep_for(1_s);
  const Held local = token;
  fault();
}
Process hold_and_wait(Semaphore& semaphore, Held token) {
  auto lease = co_await semaphore.acquire();
  co_await sleep_for(1_h);
  ++*token;
}
Process wait_for(Trigger& trigger, Held token) {
  co_await trigger.wait();
  ++*token;
}

TEST_P(EngineFailure, OfAProcessEndsItAndLeavesTheOthersToBeKilled) {
  {
    Semaphore semaphore{1};
    Trigger trigger;
    std::vector<Process> processes;
    processes.push_back(hold_and_wait(semaphore, token_));
    processes.push_back(hold_and_wait(semaphore, token_));
    processes.push_back(wait_for(trigger, token_));
    processes.push_back(wait_and_fail(token_, GetParam()));
    for (Process& process : processes) process.start(engine_, Label{"test.process"});
    expect_to_leave_run();
    EXPECT_TRUE(processes.back().done());
    EXPECT_FALSE(processes.front().done());
    EXPECT_EQ(semaphore.waiting(), 1U);
  }
  EXPECT_EQ(token_.use_count(), 1);
  EXPECT_EQ(*token_, 1);
}

TEST_P(EngineFailure, OfASignalHandlerLeavesTheRunAndTheLaterHandlersUncalled) {
  Signal<> news;
  news.connect([this] { ++ran_; });
  news.connect(GetParam());
  news.connect([this] { ++ran_; });
  engine_.after(1_s, Label{"test.news"}, [&] { news.emit(); });
  leave_one_pending();
  expect_to_leave_run();
  EXPECT_EQ(ran_, 1);
}

TEST_P(EngineFailure, OfATimerLetsItBeArmedAgain) {
  bool is_good = false;
  Timer timer{engine_, Label{"test.timer"}, [&] {
                if (is_good) return void(++ran_);
                GetParam()();
              }};
  timer.arm(1_s);
  expect_to_leave_run();
  EXPECT_FALSE(timer.is_armed());
  is_good = true;
  timer.arm(1_s);
  engine_.run();
  EXPECT_EQ(ran_, 1);
}

TEST_P(EngineFailure, OfAnAuditComesAfterTheEventThatItFollows) {
  engine_.add_audit(GetParam());
  engine_.after(1_s, Label{"test.event"}, [this] { ++ran_; });
  leave_one_pending();
  expect_to_leave_run();
  EXPECT_EQ(ran_, 1);
}

TEST_P(EngineFailure, OfAnEventThatIsProfiledLeavesTheRun) {
  engine_.enable_profile();
  engine_.after(1_s, Label{"test.fails"}, [fault = &GetParam()] { (*fault)(); });
  leave_one_pending();
  expect_to_leave_run();
}

TEST(CheckFailed, NamesTheFileFromTheRootOfTheSources) {
  try {
    fail_check();
    FAIL() << "nothing was thrown";
  } catch (const CheckFailed& failure) {
    EXPECT_TRUE(std::string_view{failure.what()}.starts_with("tests/unit/engine/failure_test.cpp:"))
        << failure.what();
  }
}

TEST(CheckFailed, NamesTheEventInsideOfARunOnly) {
  Engine engine{{.seed = 7}};
  engine.after(1_s, Label{"test.fails"}, [] { fail_check(); });
  try {
    engine.run();
    FAIL() << "nothing was thrown";
  } catch (const CheckFailed& failure) {
    EXPECT_NE(std::string{failure.what()}.find(
                  "check failed: false: this fails\n  at simulated time 1.000000000 s in event "
                  "'test.fails', seed 7"),
              std::string::npos)
        << failure.what();
  }
  EXPECT_EQ(check_context_text(), "");
}

}  // namespace
}  // namespace orrery
